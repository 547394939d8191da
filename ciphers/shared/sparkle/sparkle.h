/*
 * The SPARKLE permutations (section 2.1 of the specification of SCHWAEMM and
 * ESCH, v1.1, submission to the NIST LWC project).
 *
 * "params.h" gives SPARKLE_BRANCHES, n_b = 4, 6 or 8.
 */
#ifndef SPARKLE_H
#define SPARKLE_H

#include <stddef.h>
#include <stdint.h>

#include "params.h"

/* Table 2.1 */
#if SPARKLE_BRANCHES == 4
#define SPARKLE_SLIM 7
#define SPARKLE_BIG 10
#elif SPARKLE_BRANCHES == 6
#define SPARKLE_SLIM 7
#define SPARKLE_BIG 11
#elif SPARKLE_BRANCHES == 8
#define SPARKLE_SLIM 8
#define SPARKLE_BIG 12
#else
#error "SPARKLE has 4, 6 or 8 branches"
#endif

#define SPARKLE_WORDS (2 * SPARKLE_BRANCHES)

/*
 * Branch i is (x_i, y_i) = (w[2i], w[2i + 1]).  As a string the state is its
 * words one after the other, four bytes a word, lowest first.
 */
typedef struct {
    uint32_t w[SPARKLE_WORDS];
} sparkle_state;

/* Byte i of an array of words as a string. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SPARKLE_BYTE(w, i) (((uint8_t *)(w))[(i) ^ 3u])
#else
#define SPARKLE_BYTE(w, i) (((uint8_t *)(w))[i])
#endif

/* w[0], w[1], ... <- n bytes of a string; the rest of a word stays. */
void sparkle_load(uint32_t *w, const unsigned char *p, uint8_t n);

/* The inverse. */
void sparkle_store(unsigned char *p, const uint32_t *w, uint8_t n);

/* l(x), the linear function inside M_w (section 2.1.2) */
#define SPARKLE_ELL(x) (((x) << 16 | (x) >> 16) ^ ((x) & 0xffff))

void sparkle(sparkle_state *s, uint8_t steps);

#endif
