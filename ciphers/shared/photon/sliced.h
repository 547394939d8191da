/*
 * PHOTON_256 for 32-bit cores.  The state stays in bit slices between calls:
 * bit j of byte b of word i, the lowest byte being byte 0, is bit b of cell
 * X[i, j].
 */
#ifndef PHOTON256_SLICED_H
#define PHOTON256_SLICED_H

#include <stdint.h>

typedef struct {
    uint32_t x[8];
} photon256_sliced;

void photon256_permute(photon256_sliced *s);

/* Adds n words of the state as bytes, from its begin. */
void photon256_add(photon256_sliced *s, const uint8_t *p, uint8_t n);

/* The n first words of the state as bytes. */
void photon256_extract(const photon256_sliced *s, uint8_t *p, uint8_t n);

#endif
