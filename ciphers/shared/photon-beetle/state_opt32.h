/*
 * The state of PHOTON-Beetle in bit slices.
 */
#ifndef BEETLE_STATE_H
#define BEETLE_STATE_H

#include "sliced.h"

typedef photon256_sliced beetle_state;

static inline void beetle_permute(beetle_state *s)
{
    photon256_permute(s);
}

/* S <- S ^ p, for n bytes, a multiple of four */
static inline void beetle_add(beetle_state *s, const uint8_t *p, uint8_t n)
{
    photon256_add(s, p, n / 4);
}

static inline void beetle_extract(const beetle_state *s, uint8_t *p,
                                  uint8_t n)
{
    photon256_extract(s, p, n / 4);
}

/* IV <- IV ^ c: the constant is the three last bits of the state, bits 1 to 3
 * of cell X[7, 7]. */
static inline void beetle_add_constant(beetle_state *s, uint8_t c)
{
    s->x[7] ^= (uint32_t)(c & 1) << 15 | (uint32_t)(c & 2) << 22 |
               (uint32_t)(c & 4) << 29;
}

#endif
