/*
 * The permutation Keccak-f[200] (section 2.5.1 of the Elephant specification;
 * G. Bertoni, J. Daemen, M. Peeters, G. Van Assche, "The Keccak reference",
 * 2011): 25 lanes of eight bits, lane (x, y) at place 5y + x.
 *
 * What a lane is, one byte or those of four states in parallel, is in lane.h.
 */
#ifndef KECCAK200_H
#define KECCAK200_H

#include "lane.h"

#define KECCAK200_LANES 25

void keccak200(keccak200_lane *a);

#endif
