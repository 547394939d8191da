/*
 * The state of SpoC-128 sLiSCP-light-[256] (sections 2.5 to 2.7 of the
 * specification): Z is S_0 || S_2 and Y is S_1 || S_3.
 */
#ifndef SPOC_H
#define SPOC_H

#include "sliscp_light.h"

#define SPOC_RATE 16u

static inline void spoc_add(sliscp_light_state *s, uint8_t subblock,
                            const uint8_t *p)
{
    uint32_t *x = s->x + 2 * subblock;

    x[0] ^= simeck_load(p);
    x[1] ^= simeck_load(p + 4);
    x[4] ^= simeck_load(p + 8);
    x[5] ^= simeck_load(p + 12);
}

static inline void spoc_extract(const sliscp_light_state *s,
                                uint8_t subblock, uint8_t *p)
{
    const uint32_t *x = s->x + 2 * subblock;

    simeck_store(p, x[0]);
    simeck_store(p + 4, x[1]);
    simeck_store(p + 8, x[4]);
    simeck_store(p + 12, x[5]);
}

/* load-SpoC-128(N, K), the state being zero */
static inline void spoc_init(sliscp_light_state *s, const uint8_t *npub,
                             const uint8_t *k)
{
    spoc_add(s, 0, npub);
    spoc_add(s, 1, k);
}

#endif
