/*
 * The state of ACE-AE-128 (section 2.4 of the specification).
 */
#ifndef DUPLEX_H
#define DUPLEX_H

#include <stddef.h>

#include "ace.h"

typedef ace_state duplex_state;

#define duplex_permute_key(s) ace_permute(s)
#define duplex_permute(s) ace_permute(s)
#define duplex_add(s, p) ace_add(s, p)
#define duplex_extract(s, p) ace_extract(s, p)

/* to the lowest bits of E[0] */
#define duplex_add_domain(s, d) ((s)->w[ACE_E + 1] ^= (uint8_t)(d))

/* load-AE(N, K) (section 2.4.3) */
static inline void duplex_load(duplex_state *s, const uint8_t *npub,
                               const uint8_t *k)
{
    uint8_t i;

    for (i = 0; i < 2; i++) {
        s->w[ACE_A + i] = simeck_load(k + 4 * i);
        s->w[ACE_B + i] = simeck_load(npub + 4 * i);
        s->w[ACE_C + i] = simeck_load(k + 8 + 4 * i);
        s->w[ACE_D + i] = 0;
        s->w[ACE_E + i] = simeck_load(npub + 8 + 4 * i);
    }
}

/* tagextract(S) (section 2.4.7) */
static inline void duplex_tag(const duplex_state *s, uint8_t *t)
{
    uint8_t i;

    for (i = 0; i < 2; i++) {
        simeck_store(t + 4 * i, s->w[ACE_A + i]);
        simeck_store(t + 8 + 4 * i, s->w[ACE_C + i]);
    }
}

#endif
