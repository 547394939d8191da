/* ISAP-A: Ascon-p, from the first byte of x_0 to the last one of x_4. */
#ifndef SPONGE_H
#define SPONGE_H

#include <string.h>

#include "ascon.h"

typedef ascon_state isap_state;

#define ISAP_STATE 40u
#define ISAP_RATE 8u
#define ISAP_RATE_BITS 64

#define isap_permute ascon_permute

static inline void isap_add(isap_state *s, const uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; n > 8; i++) {
        ascon_add(s, i, p, 8);
        p += 8;
        n = (uint8_t)(n - 8);
    }
    ascon_add(s, i, p, n);
}

static inline void isap_extract(const isap_state *s, uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; n > 8; i++) {
        ascon_extract(s, i, p, 8);
        p += 8;
        n = (uint8_t)(n - 8);
    }
    ascon_extract(s, i, p, n);
}

static inline void isap_crypt(const isap_state *s, uint8_t *out,
                              const uint8_t *in, uint8_t n)
{
    uint8_t t[8], i;

    ascon_extract(s, 0, t, 8);
    for (i = 0; i < n; i++)
        out[i] = in[i] ^ t[i];
}

/* i and n are multiples of 8 */
static inline void isap_replace(isap_state *s, uint8_t i, const uint8_t *p,
                                uint8_t n)
{
    for (i = i / 8; n != 0; i++) {
        memset(s->x[i], 0, sizeof s->x[i]);
        ascon_add(s, i, p, 8);
        p += 8;
        n = (uint8_t)(n - 8);
    }
}

static inline void isap_add_bit(isap_state *s, uint8_t bit)
{
#if ASCON_COLUMNS
    ASCON_T(s, 0, ASCON_PADDING_COLUMN) ^= (uint8_t)(bit << ASCON_ROW(0));
#else
    s->x[0][1] ^= (uint32_t)bit << 31;
#endif
}

#define isap_add_padding(s, n) ascon_add_padding(s, 0, n)
#define isap_separate(s) ASCON_ADD_CONSTANT(s, 4, UINT64_C(1))

#endif
