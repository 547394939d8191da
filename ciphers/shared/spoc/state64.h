/*
 * The state of SpoC-64 sLiSCP-light-[192] (sections 2.5 to 2.7 of the
 * specification): Z is the first four bytes of S_0 and S_2, and the bytes of
 * Y that are masked are the first four of S_1 and S_3.
 */
#ifndef SPOC_H
#define SPOC_H

#include "sliscp_light.h"

#define SPOC_RATE 8u

/* four bytes: a half of three bytes and the first byte of the other */
static inline void spoc_add(sliscp_light_state *s, uint8_t subblock,
                            const uint8_t *p)
{
    uint32_t *x = s->x + 2 * subblock;

    x[0] ^= simeck_load(p);
    x[1] ^= (uint32_t)p[3] << 16;
    x[4] ^= simeck_load(p + 4);
    x[5] ^= (uint32_t)p[7] << 16;
}

static inline void spoc_extract(const sliscp_light_state *s,
                                uint8_t subblock, uint8_t *p)
{
    const uint32_t *x = s->x + 2 * subblock;

    simeck_store(p, x[0]);
    p[3] = (uint8_t)(x[1] >> 16);
    simeck_store(p + 4, x[4]);
    p[7] = (uint8_t)(x[5] >> 16);
}

/* load-SpoC-64(N_0, K), the state being zero, P and N_1 */
static inline void spoc_init(sliscp_light_state *s, const uint8_t *npub,
                             const uint8_t *k)
{
    uint8_t i;

    spoc_add(s, 0, npub);
    for (i = 0; i < 2; i++) { /* K_i */
        uint32_t *x = s->x + 4 * i;

        x[1] |= (uint32_t)k[6] << 8 | k[7];
        x[2] = simeck_load(k);
        x[3] = simeck_load(k + 3);
        k += 8;
    }
    sliscp_light(s, 18);
    spoc_add(s, 1, npub + 8);
}

#endif
