/*
 * Columns: a representation of 64-bit words for 8-bit processors.
 *
 * A word is kept as eight bytes T_0 .. T_7.  T_k holds the bits of the word
 * whose index is k modulo 8: bit 8j + k of the word is bit 7 - j of T_k.
 * A rotation of the word by 8q + r to the right then is
 *     T_k <- T_{k+r} rotated left by q          for k + r < 8
 *     T_k <- T_{k+r-8} rotated left by q + 1    otherwise,
 * so it needs no shift across bytes: most of it is renaming, and what is left
 * are rotations of single bytes by small amounts (the nibble swap included).
 * Addition of bytes to the state and extraction pay for a transposition.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdint.h>

#include "parameters.h"

/* Place of byte j of a byte string in the rows of the transposition. */
#if ASCON_BIG_ENDIAN
#define ASCON_ROW(j) (j)
#define ASCON_PADDING_COLUMN 7          /* first bit of a byte: most significant */
#else
#define ASCON_ROW(j) (7 - (j))
#define ASCON_PADDING_COLUMN 0          /* first bit of a byte: least significant */
#endif

/* T_k of the 64-bit literal v. */
#define ASCON_BIT(v, k, j) \
    ((((v) >> (8 * (j) + (k))) & 1) << (7 - (j)))
#define ASCON_COLUMN(v, k) ((uint8_t)( \
    ASCON_BIT(v, k, 0) | ASCON_BIT(v, k, 1) | ASCON_BIT(v, k, 2) | \
    ASCON_BIT(v, k, 3) | ASCON_BIT(v, k, 4) | ASCON_BIT(v, k, 5) | \
    ASCON_BIT(v, k, 6) | ASCON_BIT(v, k, 7)))

#define ASCON_ADD_COLUMN(s, i, v, k) do { \
    if (ASCON_COLUMN(v, k)) \
        ASCON_T(s, i, k) ^= ASCON_COLUMN(v, k); \
} while (0)

#define ASCON_ADD_CONSTANT(s, i, v) do { \
    ASCON_ADD_COLUMN(s, i, v, 0); ASCON_ADD_COLUMN(s, i, v, 1); \
    ASCON_ADD_COLUMN(s, i, v, 2); ASCON_ADD_COLUMN(s, i, v, 3); \
    ASCON_ADD_COLUMN(s, i, v, 4); ASCON_ADD_COLUMN(s, i, v, 5); \
    ASCON_ADD_COLUMN(s, i, v, 6); ASCON_ADD_COLUMN(s, i, v, 7); \
} while (0)

#define ascon_add_padding(s, i, n) \
    (ASCON_T(s, i, ASCON_PADDING_COLUMN) = (uint8_t) \
     (ASCON_T(s, i, ASCON_PADDING_COLUMN) ^ (1 << ASCON_ROW(n))))

/* x rotated left by n bits, 0 <= n <= 8 */
#define ROTL8(x, n) \
    ((uint8_t)((uint8_t)((x) << (n)) | (uint8_t)((x) >> (8 - (n)))))

/*
 * One step of the transposition of an 8x8 bit matrix: the square blocks of
 * side n that lie off the diagonal change places, n = 4, 2, 1.  Here for two
 * rows a and b which are n apart.
 */
#define SWAP_BLOCKS(a, b, n, mask) do { \
    uint8_t t_ = (uint8_t)(((a) ^ (uint8_t)((b) << (n))) & (mask)); \
    (a) = (uint8_t)((a) ^ t_); \
    (b) = (uint8_t)((b) ^ (uint8_t)(t_ >> (n))); \
} while (0)

/*
 * S-box (SP 800-232, 3.3) on one byte of each of the five words.  Its middle,
 * chi, is computed with x0 and x2 complemented: then only one of its five terms
 * needs a complement of its own, and the last complement of the S-box, that of
 * x2, comes for free.
 */
#define ASCON_SBOX_COLUMN(x0, x1, x2, x3, x4) do { \
    uint8_t t0_, t4_; \
    x0 ^= x4; x4 ^= x3; x2 ^= x1; \
    x0 = (uint8_t)~x0; \
    x2 = (uint8_t)~x2; \
    t0_ = x0 & x1;                      /* ~x0 & x1 */ \
    t4_ = x4 | x0;                      /* complement of ~x4 & x0 */ \
    x0 ^= x1 | x2;                      /* x0 ^ (~x1 & x2) */ \
    x1 ^= x2 & x3;                      /* x1 ^ (~x2 & x3) */ \
    x2 ^= (uint8_t)~x3 & x4;            /* complement of x2 ^ (~x3 & x4) */ \
    x3 ^= t4_;                          /* complement of x3 ^ (~x4 & x0) */ \
    x4 ^= t0_;                          /* x4 ^ (~x0 & x1) */ \
    x1 ^= x0; x0 ^= x4; x3 ^= x2; \
} while (0)

#endif
