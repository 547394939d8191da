/*
 * The ACE permutation (section 2.3 of the ACE specification, the submission
 * to the NIST LWC project).
 */
#ifndef ACE_H
#define ACE_H

#include "simeck_box.h"

/* The words A, B, C, D and E, each of them as two halves, the left one first;
 * byte A[7] is the highest of the left half of A. */
typedef struct {
    uint32_t w[10];
} ace_state;

#define ACE_A 0
#define ACE_B 2
#define ACE_C 4
#define ACE_D 6
#define ACE_E 8

void ace_permute(ace_state *s);

/* The rate part S_r: A[7] to A[4] and C[7] to C[4] (section 2.4.1) */
static inline void ace_add(ace_state *s, const uint8_t *p)
{
    s->w[ACE_A] ^= simeck_load(p);
    s->w[ACE_C] ^= simeck_load(p + 4);
}

static inline void ace_extract(const ace_state *s, uint8_t *p)
{
    simeck_store(p, s->w[ACE_A]);
    simeck_store(p + 4, s->w[ACE_C]);
}

#endif
