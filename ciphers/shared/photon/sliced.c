/*
 * PHOTON_256 for 32-bit cores.
 */
#include "nibble_slices.h"
#include "photon256.h"
#include "sliced.h"

void photon256_add(photon256_sliced *s, const uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++, p += 4)
        s->x[i] ^= nibbles_load(p);
}

void photon256_extract(const photon256_sliced *s, uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++, p += 4)
        nibbles_store(p, s->x[i]);
}

/* Exchanges the bits of y under the mask with those of x n places above. */
#define SWAPMOVE(x, y, mask, n)                                              \
    do {                                                                     \
        uint32_t t = ((y) ^ (x) >> (n)) & (mask);                            \
                                                                             \
        (y) ^= t;                                                            \
        (x) ^= t << (n);                                                     \
    } while (0)

/* Rows to slices and back: byte i of word j becomes byte j of word i. */
#define TRANSPOSE(x0, x1, x2, x3)                                            \
    do {                                                                     \
        SWAPMOVE(x0, x2, 0x0000ffffu, 16);                                   \
        SWAPMOVE(x1, x3, 0x0000ffffu, 16);                                   \
        SWAPMOVE(x0, x1, 0x00ff00ffu, 8);                                    \
        SWAPMOVE(x2, x3, 0x00ff00ffu, 8);                                    \
    } while (0)

/* AddConstant to slice b of four rows: bit b of the four IC[i] and of RC[k],
 * which are constants of column 0. */
#define CONSTANT(ic, b) ((uint32_t)(ic) ^ (rc[(k)] >> (b) & 1) * 0x01010101u)

/* ShiftRows of row i */
#define MASK(i) (0x01010101u * (0xffu >> (i)))
#define SHIFT(x, i) (((x) >> (i) & MASK(i)) | ((x) << (8 - (i)) & ~MASK(i)))

/* The cells of a row times x, modulo x^4 + x + 1, plus v. */
static inline uint32_t times_x_plus(uint32_t w, uint32_t v)
{
    return (w << 8 | w >> 24) ^ (w >> 24 << 8) ^ v;
}

/* A row of the serial matrix: (2, 4, 2, 11, 2, 8, 5, 6) */
#define SERIAL(x0, x1, x2, x3, x4, x5, x6, x7)                               \
    do {                                                                     \
        uint32_t w = times_x_plus(x3 ^ x5, x1 ^ x6 ^ x7);                    \
                                                                             \
        w = times_x_plus(w, x0 ^ x2 ^ x3 ^ x4 ^ x7);                         \
        x0 = times_x_plus(w, x3 ^ x6);                                       \
    } while (0)

void photon256_permute(photon256_sliced *s)
{
    static const uint8_t rc[12] = {1, 3, 7, 14, 13, 11, 6, 12, 9, 2, 5, 10};
    uint32_t x0 = s->x[0], x1 = s->x[1], x2 = s->x[2], x3 = s->x[3];
    uint32_t x4 = s->x[4], x5 = s->x[5], x6 = s->x[6], x7 = s->x[7];
    uint8_t k;

    for (k = 0; k < 12; k++) {
        TRANSPOSE(x0, x1, x2, x3);
        x0 ^= CONSTANT(0x01010100u, 0);
        x1 ^= CONSTANT(0x01010000u, 1);
        x2 ^= CONSTANT(0x01000000u, 2);
        x3 ^= CONSTANT(0, 3);
        PHOTON256_SUBCELLS(uint32_t, x0, x1, x2, x3);
        TRANSPOSE(x0, x1, x2, x3);
        TRANSPOSE(x4, x5, x6, x7);
        x4 ^= CONSTANT(0x00000001u, 0);
        x5 ^= CONSTANT(0x00000101u, 1);
        x6 ^= CONSTANT(0x00010101u, 2);
        x7 ^= CONSTANT(0x01010101u, 3);
        PHOTON256_SUBCELLS(uint32_t, x4, x5, x6, x7);
        TRANSPOSE(x4, x5, x6, x7);

        x1 = SHIFT(x1, 1);
        x2 = SHIFT(x2, 2);
        x3 = SHIFT(x3, 3);
        x4 = SHIFT(x4, 4);
        x5 = SHIFT(x5, 5);
        x6 = SHIFT(x6, 6);
        x7 = SHIFT(x7, 7);

        /* M^8, a row at a time in the place of the row that goes */
        SERIAL(x0, x1, x2, x3, x4, x5, x6, x7);
        SERIAL(x1, x2, x3, x4, x5, x6, x7, x0);
        SERIAL(x2, x3, x4, x5, x6, x7, x0, x1);
        SERIAL(x3, x4, x5, x6, x7, x0, x1, x2);
        SERIAL(x4, x5, x6, x7, x0, x1, x2, x3);
        SERIAL(x5, x6, x7, x0, x1, x2, x3, x4);
        SERIAL(x6, x7, x0, x1, x2, x3, x4, x5);
        SERIAL(x7, x0, x1, x2, x3, x4, x5, x6);
    }

    s->x[0] = x0;
    s->x[1] = x1;
    s->x[2] = x2;
    s->x[3] = x3;
    s->x[4] = x4;
    s->x[5] = x5;
    s->x[6] = x6;
    s->x[7] = x7;
}
