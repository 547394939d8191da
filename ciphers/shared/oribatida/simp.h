/*
 * The permutations SimP-n-theta (section 4 of the Oribatida specification).
 *
 * "params.h" has SIMP_N, n / 8, the bytes of a state: 24 or 32.
 */
#ifndef SIMP_H
#define SIMP_H

#include <stdint.h>

#include "params.h"

/* theta steps on the n / 8 bytes of x */
void simp(uint8_t *x, uint8_t theta);

#endif
