/*
 * The KNOT permutations (sections 2 and 3 of the KNOT specification, the
 * submission to the NIST LWC project).
 *
 * KNOT_B, b in bytes, and KNOT_D, the d of the round constants, are in
 * params.h, with the parameters of the mode.
 */
#ifndef KNOT_H
#define KNOT_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "params.h"

#if UINT_MAX == 0xffff
typedef uint8_t knot_word;
#else
typedef uint32_t knot_word;
#endif

#define KNOT_WORD_BITS (CHAR_BIT * (int)sizeof(knot_word))
/* words of a row, which has b / 4 bits */
#define KNOT_ROW (KNOT_B / 4 / sizeof(knot_word))

/* Rows A_0 to A_3, the lowest word first. */
typedef struct {
    knot_word a[4][KNOT_ROW];
} knot_state;

/* Byte i of the state, of which byte 0 has the first bits, those of A_0. */
#if UINT_MAX != 0xffff && defined(__BYTE_ORDER__) &&                         \
    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define KNOT_BYTE(s, i) (((uint8_t *)(s)->a)[(i) ^ 3u])
#else
#define KNOT_BYTE(s, i) (((uint8_t *)(s)->a)[i])
#endif

/* p_b[rounds] */
void knot_permute(knot_state *s, uint8_t rounds);

#endif
