/*
 * The block cipher GIFT-128 (section 2.4 of the GIFT-COFB specification, the
 * submission to the NIST LWC project), encryption only.
 *
 * The size of what is kept of a key is fixed by params.h.
 */
#ifndef GIFT128_H
#define GIFT128_H

#include <stddef.h>
#include <stdint.h>

#include "params.h"

typedef struct {
#ifdef GIFT128_FAST
    uint32_t rk[80]; /* U and V of forty rounds, in the fixsliced order */
#else
    const uint8_t *k;
#endif
} gift128_key;

void gift128_set_key(gift128_key *key, const uint8_t *k);

/* y = E_K(y), a block of 16 bytes */
void gift128_encrypt(const gift128_key *key, uint8_t *y);

#define GIFT128_LOAD32(p)                                                    \
    ((uint32_t)(p)[0] << 24 | (uint32_t)(p)[1] << 16 |                       \
     (uint32_t)(p)[2] << 8 | (uint32_t)(p)[3])

#define GIFT128_STORE32(p, x)                                                \
    do {                                                                     \
        (p)[0] = (uint8_t)((x) >> 24);                                       \
        (p)[1] = (uint8_t)((x) >> 16);                                       \
        (p)[2] = (uint8_t)((x) >> 8);                                        \
        (p)[3] = (uint8_t)(x);                                               \
    } while (0)

/* SubCells, without the exchange of S_0 and S_3 at its end. */
#define GIFT128_SUBCELLS(type, s0, s1, s2, s3)                               \
    do {                                                                     \
        s1 ^= (type)(s0 & s2);                                               \
        s0 ^= (type)(s1 & s3);                                               \
        s2 ^= (type)(s0 | s1);                                               \
        s3 ^= s2;                                                            \
        s1 ^= s3;                                                            \
        s3 = (type)~s3;                                                      \
        s2 ^= (type)(s0 & s1);                                               \
    } while (0)

#endif
