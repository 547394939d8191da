/*
 * The Subterranean duplex object (Algorithm 1 of the specification of the
 * Subterranean 2.0 cipher suite, submission to the NIST LWC project).
 */
#ifndef SUBTERRANEAN_H
#define SUBTERRANEAN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#if UINT_MAX > 0xffff
typedef uint32_t subterranean_word;
#define SUBTERRANEAN_W 32
#else
typedef uint8_t subterranean_word;
#define SUBTERRANEAN_W 8
#endif

/* Words that hold the 257 bits. */
#define SUBTERRANEAN_WORDS (256 / SUBTERRANEAN_W + 1)

/*
 * Bit s_i is bit i mod W of x[i / W].  What lies behind s_256 means nothing
 * between two calls; it starts as 0.
 */
typedef struct {
    subterranean_word x[SUBTERRANEAN_WORDS + 2];
} subterranean;

/* duplex(sigma) with n <= 4 bytes of sigma */
void subterranean_duplex(subterranean *s, const uint8_t *sigma, uint8_t n);

/* extract(s) */
void subterranean_extract(const subterranean *s, uint8_t *z);

/* blank(r) */
void subterranean_blank(subterranean *s, uint8_t r);

/* squeeze(l) with l = n bytes, a multiple of four */
void subterranean_squeeze(subterranean *s, uint8_t *z, uint8_t n);

#endif
