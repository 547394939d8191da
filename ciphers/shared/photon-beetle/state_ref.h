/*
 * The state of PHOTON-Beetle as 32 bytes.
 */
#ifndef BEETLE_STATE_H
#define BEETLE_STATE_H

#include "photon256.h"

typedef struct {
    uint8_t x[PHOTON256_BYTES];
} beetle_state;

static inline void beetle_permute(beetle_state *s)
{
    photon256(s->x);
}

/* S <- S ^ p, for n bytes, a multiple of four */
static inline void beetle_add(beetle_state *s, const uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        s->x[i] ^= p[i];
}

static inline void beetle_extract(const beetle_state *s, uint8_t *p,
                                  uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        p[i] = s->x[i];
}

/* IV <- IV ^ c: the constant is the three last bits of the state. */
static inline void beetle_add_constant(beetle_state *s, uint8_t c)
{
    s->x[PHOTON256_BYTES - 1] ^= (uint8_t)(c << 5);
}

#endif
