/*
 * What PHOTON-Beetle-AEAD[r] and PHOTON-Beetle-Hash[r] have in common (Figure
 * 3.6 of the specification).  RATE, r in bytes, is in params.h.
 */
#ifndef BEETLE_H
#define BEETLE_H

#include <stddef.h>
#include <string.h>

#include "params.h"
#include "state.h"

/* Y <- Y ^ Ozs_r(D_i), for n <= r bytes; the padding bit is a low bit. */
static inline void beetle_add_block(beetle_state *s, const uint8_t *d,
                                    uint8_t n)
{
    uint8_t block[RATE];

    if (n != 0)
        memcpy(block, d, n);
    if (n < RATE) {
        memset(block + n, 0, (uint8_t)(RATE - n));
        block[n] = 1;
    }
    beetle_add(s, block, RATE);
}

/* HASH_r(IV, D, c_0) for a D that is not empty */
static inline void beetle_hash(beetle_state *s, const uint8_t *d, size_t len,
                               uint8_t c0)
{
    while (len != 0) {
        uint8_t n = (uint8_t)(len < RATE ? len : RATE);

        beetle_permute(s);
        beetle_add_block(s, d, n);
        d += n;
        len -= n;
    }
    beetle_add_constant(s, c0);
}

#endif
