/*
 * The permutations sLiSCP-light-[256] and sLiSCP-light-[192] (section 2.3 of
 * the specifications of Spix and SpoC, submissions to the NIST LWC project).
 */
#ifndef SLISCP_LIGHT_H
#define SLISCP_LIGHT_H

#include "simeck_box.h"

/* The subblocks X_0 to X_3, each of them as two halves, the left one first.
 * They make one string of bytes, the highest byte of a half first. */
typedef struct {
    uint32_t x[8];
} sliscp_light_state;

/* P^steps */
void sliscp_light(sliscp_light_state *s, uint8_t steps);

#endif
