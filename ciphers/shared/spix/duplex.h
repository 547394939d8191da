/*
 * The state of Spix (section 2.2 of the specification).
 */
#ifndef DUPLEX_H
#define DUPLEX_H

#include <stddef.h>

#include "sliscp_light.h"

typedef sliscp_light_state duplex_state;

#define duplex_permute_key(s) sliscp_light(s, 18)
#define duplex_permute(s) sliscp_light(s, 9)

/* S_r: the bytes B_8 to B_11 and B_24 to B_27 */
static inline void duplex_add(duplex_state *s, const uint8_t *p)
{
    s->x[2] ^= simeck_load(p);
    s->x[6] ^= simeck_load(p + 4);
}

static inline void duplex_extract(const duplex_state *s, uint8_t *p)
{
    simeck_store(p, s->x[2]);
    simeck_store(p + 4, s->x[6]);
}

/* to B_31 (section 2.2.1) */
#define duplex_add_domain(s, d) ((s)->x[7] ^= (uint8_t)(d))

/* init(N, K) (section 2.2.3) */
static inline void duplex_load(duplex_state *s, const uint8_t *npub,
                               const uint8_t *k)
{
    uint8_t i;

    for (i = 0; i < 2; i++) {
        s->x[i] = simeck_load(npub + 4 * i);
        s->x[2 + i] = simeck_load(k + 4 * i);
        s->x[4 + i] = simeck_load(npub + 8 + 4 * i);
        s->x[6 + i] = simeck_load(k + 8 + 4 * i);
    }
}

/* tagextract(S): T_0 is B_8 to B_15 (section 2.2.6 prints B_7) and T_1 is B_24
 * to B_31 */
static inline void duplex_tag(const duplex_state *s, uint8_t *t)
{
    uint8_t i;

    for (i = 0; i < 2; i++) {
        simeck_store(t + 4 * i, s->x[2 + i]);
        simeck_store(t + 8 + 4 * i, s->x[6 + i]);
    }
}

#endif
