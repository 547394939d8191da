/*
 * What SKINNY-64 and SKINNY-128 have in common, and the order of bits of both.
 *
 * The 4 x 4 cells are sliced: bit 2r + b of byte c of slice w is bit w + bW
 * of the cell in row r and column c, where W, the number of slices, is half
 * the number of bits of a cell.  The S-box is boolean operations on slices,
 * with no secret index, and one mask finds a row in all columns.
 *
 * A tweakey array is kept as two halves of two rows.  A half needs only four
 * bits of the bytes of a slice; slice w + W / 2 has the other four of slice w,
 * so that a half takes W / 2 slices.
 *
 * What keeps columns apart is written for a skinny_word, which has all four
 * columns of a slice if the machine has registers of 32 bits, or if
 * SKINNY_WORD32 is defined, and else one.
 */
#ifndef SKINNY_H
#define SKINNY_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#if UINT_MAX > 0xffff || defined(SKINNY_WORD32)

typedef uint32_t skinny_word;
#define SKINNY_COLUMNS 1 /* words of a slice */
#define SKINNY_LOAD(p, c)                                                    \
    ((uint32_t)(p)[0] | (uint32_t)(p)[1] << 8 | (uint32_t)(p)[2] << 16 |     \
     (uint32_t)(p)[3] << 24)
#define SKINNY_STORE(p, c, x)                                                \
    do {                                                                     \
        (p)[0] = (uint8_t)(x);                                               \
        (p)[1] = (uint8_t)((x) >> 8);                                        \
        (p)[2] = (uint8_t)((x) >> 16);                                       \
        (p)[3] = (uint8_t)((x) >> 24);                                       \
    } while (0)

#else

typedef uint8_t skinny_word;
#define SKINNY_COLUMNS 4
#define SKINNY_LOAD(p, c) ((p)[c])
#define SKINNY_STORE(p, c, x) ((p)[c] = (x))

#endif

/* Not inlined, for the size of the code */
#if defined(__GNUC__)
#define SKINNY_FUNCTION static __attribute__((noinline, unused))
#else
#define SKINNY_FUNCTION static inline
#endif

#define SKINNY_MASK(x) ((skinny_word)(0x01010101u * (x)))

#define SKINNY_ROW0 SKINNY_MASK(0x03u)
#define SKINNY_ROW1 SKINNY_MASK(0x0cu)
#define SKINNY_ROW2 SKINNY_MASK(0x30u)
#define SKINNY_ROW3 SKINNY_MASK(0xc0u)
#define SKINNY_UPPER(x) ((x) & SKINNY_MASK(0x0fu)) /* rows 0, 1 */
#define SKINNY_LOWER(x) ((x) & SKINNY_MASK(0xf0u)) /* rows 2, 3 */
#define SKINNY_LOW SKINNY_MASK(0x55u)  /* b = 0 */
#define SKINNY_HIGH SKINNY_MASK(0xaau) /* b = 1 */

#define SKINNY_EACH_COLUMN(c) for (c = 0; c < SKINNY_COLUMNS; c++)

/* Exchanges the bits of x under the mask with those n places above. */
#define SKINNY_SWAP(x, mask, n)                                              \
    do {                                                                     \
        skinny_word t_ = ((x) ^ (x) >> (n)) & SKINNY_MASK(mask);             \
                                                                             \
        (x) ^= (skinny_word)(t_ ^ t_ << (n));                                \
    } while (0)

/* The round constants: an affine LFSR of n bits, started at 0 and updated
 * before use; here backwards as well. */
static inline uint8_t skinny_next_constant(uint8_t rc, uint8_t n)
{
    uint8_t in = (uint8_t)((rc >> (n - 1) ^ rc >> (n - 2) ^ 1) & 1);

    return (uint8_t)((rc << 1 & ((1 << n) - 1)) | in);
}

static inline uint8_t skinny_previous_constant(uint8_t rc, uint8_t n)
{
    uint8_t in = (uint8_t)((rc ^ rc >> (n - 1) ^ 1) & 1);

    return (uint8_t)(rc >> 1 | in << (n - 1));
}

/*
 * ShiftRows and MixColumns of one slice.  The first one moves row r by r
 * columns to the right; the second one is three additions, of row 2 to row 1,
 * of row 0 to row 2 and of row 2 to row 3, after which all rows go down.
 */
#if SKINNY_COLUMNS == 1

#define SKINNY_ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

/* The additions come first here, with rows that are not yet shifted. */
static inline void skinny_shift_and_mix(skinny_word *s)
{
    uint32_t x = *s, t;

    t = x & SKINNY_ROW2;
    x ^= SKINNY_ROTL(t, 6);
    t = x & SKINNY_ROW0;
    x ^= SKINNY_ROTL(t, 20);
    t = x & SKINNY_ROW2;
    x ^= SKINNY_ROTL(t, 26);
    t = x & (SKINNY_ROW2 | SKINNY_ROW3); /* both by 2 columns and a row */
    *s = SKINNY_ROTL(x & SKINNY_ROW0, 2) | SKINNY_ROTL(x & SKINNY_ROW1, 10) |
         SKINNY_ROTL(t, 18);
}

static inline void skinny_shift_and_mix_inverse(skinny_word *s)
{
    uint32_t x = *s, t;

    t = x & (SKINNY_ROW3 | SKINNY_ROW0);
    x = SKINNY_ROTL(x & SKINNY_ROW1, 30) | SKINNY_ROTL(x & SKINNY_ROW2, 22) |
        SKINNY_ROTL(t, 14);
    t = x & SKINNY_ROW2;
    x ^= SKINNY_ROTL(t, 26);
    t = x & SKINNY_ROW0;
    x ^= SKINNY_ROTL(t, 20);
    t = x & SKINNY_ROW2;
    x ^= SKINNY_ROTL(t, 6);
    *s = x;
}

#else

/* the rows of four columns, one each */
#define SKINNY_ROWS(a, b, c, d)                                              \
    ((uint8_t)(((a) & SKINNY_ROW0) | ((b) & SKINNY_ROW1) |                   \
               ((c) & SKINNY_ROW2) | ((d) & SKINNY_ROW3)))

static inline uint8_t skinny_mix_column(uint8_t x)
{
    x ^= (x & SKINNY_ROW2) >> 2;
    x ^= (uint8_t)((x & SKINNY_ROW0) << 4);
    x ^= (uint8_t)((x & SKINNY_ROW2) << 2);
    return (uint8_t)(x << 2 | x >> 6);
}

static inline uint8_t skinny_mix_column_inverse(uint8_t x)
{
    x = (uint8_t)(x >> 2 | x << 6);
    x ^= (uint8_t)((x & SKINNY_ROW2) << 2);
    x ^= (uint8_t)((x & SKINNY_ROW0) << 4);
    x ^= (x & SKINNY_ROW2) >> 2;
    return x;
}

static inline void skinny_shift_and_mix(skinny_word *s)
{
    uint8_t x0 = s[0], x1 = s[1], x2 = s[2], x3 = s[3];

    s[0] = skinny_mix_column(SKINNY_ROWS(x0, x3, x2, x1));
    s[1] = skinny_mix_column(SKINNY_ROWS(x1, x0, x3, x2));
    s[2] = skinny_mix_column(SKINNY_ROWS(x2, x1, x0, x3));
    s[3] = skinny_mix_column(SKINNY_ROWS(x3, x2, x1, x0));
}

static inline void skinny_shift_and_mix_inverse(skinny_word *s)
{
    uint8_t x0 = skinny_mix_column_inverse(s[0]);
    uint8_t x1 = skinny_mix_column_inverse(s[1]);
    uint8_t x2 = skinny_mix_column_inverse(s[2]);
    uint8_t x3 = skinny_mix_column_inverse(s[3]);

    s[0] = SKINNY_ROWS(x0, x1, x2, x3);
    s[1] = SKINNY_ROWS(x1, x2, x3, x0);
    s[2] = SKINNY_ROWS(x2, x3, x0, x1);
    s[3] = SKINNY_ROWS(x3, x0, x1, x2);
}

#endif

/*
 * Bit 1 of the cell in row 0 and column 2, an addition to the constants of a
 * cipher with a tweak (ForkAE specification, section 4.1, "Tweakey"): to be
 * given slice 1.
 */
static inline void skinny_add_tweak_constant(skinny_word *s)
{
#if SKINNY_COLUMNS == 1
    *s ^= (uint32_t)1 << 16;
#else
    s[2] ^= 1;
#endif
}

/*
 * P_T.  The half of rows 2 and 3 becomes rows 0 and 1, where its cells are
 * 9, 15, 8, 13 and 10, 14, 12, 11; the other half goes down as it is.  The
 * inverse takes cells 2, 0, 4, 7 and 6, 3, 5, 1 back.
 */
#if SKINNY_COLUMNS == 1

static inline void skinny_permute_tweakey(skinny_word *h)
{
    uint32_t x = *h;

    *h = (x & 0x00cc3300u) >> 8 | (x & 0x000000ffu) << 16 |
         (x & 0x0000cc00u) << 14 | (x & 0xcc000000u) >> 18 |
         (x & 0x00330000u) >> 14 | (x & 0x33000000u) << 2;
}

static inline void skinny_permute_tweakey_inverse(skinny_word *h)
{
    uint32_t x = *h;

    *h = (x & 0x0000cc33u) << 8 | (x & 0x00ff0000u) >> 16 |
         (x & 0x33000000u) >> 14 | (x & 0x00003300u) << 18 |
         (x & 0x000000ccu) << 14 | (x & 0xcc000000u) >> 2;
}

#else

static inline void skinny_permute_tweakey(skinny_word *h)
{
    uint8_t x0 = h[0], x1 = h[1], x2 = h[2], x3 = h[3];

    h[0] = (uint8_t)((x1 & 0x33) | (x2 << 2 & 0xcc));
    h[1] = (uint8_t)((x3 >> 2 & 0x33) | (x2 & 0xcc));
    h[2] = x0;
    h[3] = (uint8_t)((x1 >> 2 & 0x33) | (x3 << 2 & 0xcc));
}

static inline void skinny_permute_tweakey_inverse(skinny_word *h)
{
    uint8_t x0 = h[0], x1 = h[1], x2 = h[2], x3 = h[3];

    h[0] = x2;
    h[1] = (uint8_t)((x0 & 0x33) | (x3 << 2 & 0xcc));
    h[2] = (uint8_t)((x0 >> 2 & 0x33) | (x1 & 0xcc));
    h[3] = (uint8_t)((x3 >> 2 & 0x33) | (x1 << 2 & 0xcc));
}

#endif

#endif
