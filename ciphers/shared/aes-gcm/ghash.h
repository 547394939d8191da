/*
 * GHASH (SP 800-38D, section 6.4) without tables, in constant time.
 */
#ifndef GHASH_H
#define GHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t h[4], y[4];
} ghash;

/* With the hash subkey h, 16 bytes; y = 0. */
void ghash_start(ghash *g, const uint8_t *h);

/* The blocks of x, the last one filled with zeros. */
void ghash_add(ghash *g, const uint8_t *x, size_t len);

/* A block of two 64-bit lengths, given in bytes, and the result. */
void ghash_finish(ghash *g, size_t adlen, size_t len, uint8_t *y);

#endif
