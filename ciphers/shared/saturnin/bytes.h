/*
 * Saturnin for AVR: the columns in one byte of every register fit into the
 * processor's registers, and of all steps only SR_sheet joins the two bytes of
 * a register.
 *
 * The bits 0 to 3 of the nibbles a, b, c and d of the columns are a0 to a3, b0
 * to b3, c0 to c3 and d0 to d3 (section 3.2).
 */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>

/* What columns() does in a super-round with SR_slice; with SR_sheet, before
 * and after it. */
enum { SLICE, BEFORE_SHEET, AFTER_SHEET };

#define LOAD_COLUMNS(x)                                                      \
    uint8_t a0 = (x)[0], a1 = (x)[2], a2 = (x)[4], a3 = (x)[6];              \
    uint8_t b0 = (x)[8], b1 = (x)[10], b2 = (x)[12], b3 = (x)[14];           \
    uint8_t c0 = (x)[16], c1 = (x)[18], c2 = (x)[20], c3 = (x)[22];          \
    uint8_t d0 = (x)[24], d1 = (x)[26], d2 = (x)[28], d3 = (x)[30];          \
    uint8_t t

#define STORE_COLUMNS(x)                                                     \
    do {                                                                     \
        (x)[0] = a0;                                                         \
        (x)[2] = a1;                                                         \
        (x)[4] = a2;                                                         \
        (x)[6] = a3;                                                         \
        (x)[8] = b0;                                                         \
        (x)[10] = b1;                                                        \
        (x)[12] = b2;                                                        \
        (x)[14] = b3;                                                        \
        (x)[16] = c0;                                                        \
        (x)[18] = c1;                                                        \
        (x)[20] = c2;                                                        \
        (x)[22] = c3;                                                        \
        (x)[24] = d0;                                                        \
        (x)[26] = d1;                                                        \
        (x)[28] = d2;                                                        \
        (x)[30] = d3;                                                        \
    } while (0)

/* a ^= b */
#define ADD(a, b)                                                            \
    do {                                                                     \
        a##0 ^= b##0;                                                        \
        a##1 ^= b##1;                                                        \
        a##2 ^= b##2;                                                        \
        a##3 ^= b##3;                                                        \
    } while (0)

#define ALPHA(a)                                                             \
    do {                                                                     \
        t = a##0 ^ a##1;                                                     \
        a##0 = a##1;                                                         \
        a##1 = a##2;                                                         \
        a##2 = a##3;                                                         \
        a##3 = t;                                                            \
    } while (0)

#define INVERSE_ALPHA(a)                                                     \
    do {                                                                     \
        t = a##3 ^ a##0;                                                     \
        a##3 = a##2;                                                         \
        a##2 = a##1;                                                         \
        a##1 = a##0;                                                         \
        a##0 = t;                                                            \
    } while (0)

/* Every nibble rotated to the left */
#define ROTATE_1(x) (uint8_t)(((x) << 1 & 0xee) | ((x) >> 3 & 0x11))
#define ROTATE_2(x) (uint8_t)(((x) << 2 & 0xcc) | ((x) >> 2 & 0x33))
#define ROTATE_3(x) (uint8_t)(((x) << 3 & 0x88) | ((x) >> 1 & 0x77))
#define ROTATE_NIBBLES(a, n)                                                 \
    do {                                                                     \
        a##0 = ROTATE_##n(a##0);                                             \
        a##1 = ROTATE_##n(a##1);                                             \
        a##2 = ROTATE_##n(a##2);                                             \
        a##3 = ROTATE_##n(a##3);                                             \
    } while (0)

#define SR_SLICE()                                                           \
    do {                                                                     \
        ROTATE_NIBBLES(b, 1);                                                \
        ROTATE_NIBBLES(c, 2);                                                \
        ROTATE_NIBBLES(d, 3);                                                \
    } while (0)

#define INVERSE_SR_SLICE()                                                   \
    do {                                                                     \
        ROTATE_NIBBLES(b, 3);                                                \
        ROTATE_NIBBLES(c, 2);                                                \
        ROTATE_NIBBLES(d, 1);                                                \
    } while (0)

/* SR_sheet: the registers 4 to 7 rotated to the left by 4, 8 to 11 by 8 and 12
 * to 15 by 12; its inverse has 12 in the place of 4 and 4 in that of 12. */
static inline void saturnin_sheet(uint8_t *x, uint8_t inverse)
{
    uint8_t *p4 = x + (inverse ? 24 : 8), *p8 = x + 16;
    uint8_t *p12 = x + (inverse ? 8 : 24);
    uint8_t i;

    for (i = 0; i < 8; i = (uint8_t)(i + 2)) {
        uint8_t low = p4[i], high = p4[i + 1];

        low = (uint8_t)(low << 4 | low >> 4);
        high = (uint8_t)(high << 4 | high >> 4);
        p4[i] = (uint8_t)((low & 0xf0) | (high & 0x0f));
        p4[i + 1] = (uint8_t)((high & 0xf0) | (low & 0x0f));

        low = p8[i];
        p8[i] = p8[i + 1];
        p8[i + 1] = low;

        low = p12[i];
        high = p12[i + 1];
        low = (uint8_t)(low << 4 | low >> 4);
        high = (uint8_t)(high << 4 | high >> 4);
        p12[i] = (uint8_t)((high & 0xf0) | (low & 0x0f));
        p12[i + 1] = (uint8_t)((low & 0xf0) | (high & 0x0f));
    }
}

/* x ^= k */
static inline void saturnin_add_key(uint8_t *x, const uint8_t *k)
{
    uint8_t i;

    for (i = 0; i < 32; i++)
        x[i] ^= k[i];
}

/* The key with every nibble i taken from i + 20: registers rotated to the
 * right by 5 */
static inline void saturnin_rotate_key(uint8_t *rotated, const uint8_t *k)
{
    uint8_t i;

    for (i = 0; i < 32; i = (uint8_t)(i + 2)) {
        uint8_t low = k[i], high = k[i + 1];

        rotated[i] = (uint8_t)(high << 3 | low >> 5);
        rotated[i + 1] = (uint8_t)(low << 3 | high >> 5);
    }
}

#endif
