/*
 * Saturnin: the state in eight words, and what encryption and decryption have
 * in common.
 *
 * Word i has register i in its lower half and register i + 8 in its upper one.
 * The registers 0 to 3, 4 to 7, 8 to 11 and 12 to 15 are the bits 0 to 3 of
 * the nibbles a, b, c and d of the columns (section 3.2); so the words a0 to
 * a3 hold a and c, b0 to b3 hold b and d.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

#define LOAD(p, i)                                                           \
    ((uint32_t)(p)[2 * (i)] | (uint32_t)(p)[2 * (i) + 1] << 8 |              \
     (uint32_t)(p)[2 * (i) + 16] << 16 | (uint32_t)(p)[2 * (i) + 17] << 24)

#define STORE(p, i, w)                                                       \
    do {                                                                     \
        const uint32_t w_ = (w);                                             \
                                                                             \
        (p)[2 * (i)] = (uint8_t)w_;                                          \
        (p)[2 * (i) + 1] = (uint8_t)(w_ >> 8);                               \
        (p)[2 * (i) + 16] = (uint8_t)(w_ >> 16);                             \
        (p)[2 * (i) + 17] = (uint8_t)(w_ >> 24);                             \
    } while (0)

/* Parts of MC: a ^= b and c ^= d; b ^= c and d ^= a; alpha, an LFSR */
#define ADD_B_TO_A()                                                         \
    do {                                                                     \
        a0 ^= b0;                                                            \
        a1 ^= b1;                                                            \
        a2 ^= b2;                                                            \
        a3 ^= b3;                                                            \
    } while (0)

#define ADD_A_TO_B()                                                         \
    do {                                                                     \
        b0 ^= SWAP(a0);                                                      \
        b1 ^= SWAP(a1);                                                      \
        b2 ^= SWAP(a2);                                                      \
        b3 ^= SWAP(a3);                                                      \
    } while (0)

#define SWAP(x) ((x) << 16 | (x) >> 16)

#define ALPHA(x0, x1, x2, x3)                                                \
    do {                                                                     \
        uint32_t t_ = x0 ^ x1;                                               \
                                                                             \
        x0 = x1;                                                             \
        x1 = x2;                                                             \
        x2 = x3;                                                             \
        x3 = t_;                                                             \
    } while (0)

#define INVERSE_ALPHA(x0, x1, x2, x3)                                        \
    do {                                                                     \
        uint32_t t_ = x3 ^ x0;                                               \
                                                                             \
        x3 = x2;                                                             \
        x2 = x1;                                                             \
        x1 = x0;                                                             \
        x0 = t_;                                                             \
    } while (0)

/*
 * SR_slice rotates every four bits of a register, SR_sheet a register by four
 * times as much, both to the left: a not at all, b by 1, c by 2 and d by 3.
 */
#define EACH(rotate_a, rotate_b)                                             \
    do {                                                                     \
        a0 = rotate_a(a0);                                                   \
        a1 = rotate_a(a1);                                                   \
        a2 = rotate_a(a2);                                                   \
        a3 = rotate_a(a3);                                                   \
        b0 = rotate_b(b0);                                                   \
        b1 = rotate_b(b1);                                                   \
        b2 = rotate_b(b2);                                                   \
        b3 = rotate_b(b3);                                                   \
    } while (0)

#define SR_SLICE() EACH(SLICE_0_2, SLICE_1_3)
#define INVERSE_SR_SLICE() EACH(SLICE_0_2, SLICE_3_1)
#define SR_SHEET() EACH(SHEET_0_2, SHEET_1_3)
#define INVERSE_SR_SHEET() EACH(SHEET_0_2, SHEET_3_1)

/* the bits under the mask, moved to the left or to the right */
#define LEFT(x, n, mask) (((x) & (mask)) << (n))
#define RIGHT(x, n, mask) (((x) & (mask)) >> (n))

#define SLICE_0_2(x)                                                         \
    (((x) & 0x0000ffffu) |                                                   \
     LEFT(x, 2, 0x33330000u) | RIGHT(x, 2, 0xcccc0000u))
#define SLICE_1_3(x)                                                         \
    (LEFT(x, 1, 0x00007777u) | RIGHT(x, 3, 0x00008888u) |                    \
     LEFT(x, 3, 0x11110000u) | RIGHT(x, 1, 0xeeee0000u))
#define SLICE_3_1(x)                                                         \
    (LEFT(x, 3, 0x00001111u) | RIGHT(x, 1, 0x0000eeeeu) |                    \
     LEFT(x, 1, 0x77770000u) | RIGHT(x, 3, 0x88880000u))
#define SHEET_0_2(x)                                                         \
    (((x) & 0x0000ffffu) |                                                   \
     LEFT(x, 8, 0x00ff0000u) | RIGHT(x, 8, 0xff000000u))
#define SHEET_1_3(x)                                                         \
    (LEFT(x, 4, 0x00000fffu) | RIGHT(x, 12, 0x0000f000u) |                   \
     LEFT(x, 12, 0x000f0000u) | RIGHT(x, 4, 0xfff00000u))
#define SHEET_3_1(x)                                                         \
    (LEFT(x, 12, 0x0000000fu) | RIGHT(x, 4, 0x0000fff0u) |                   \
     LEFT(x, 4, 0x0fff0000u) | RIGHT(x, 12, 0xf0000000u))

/* The key, or the key with every nibble i taken from i + 20: registers rotated
 * to the right by 5 */
#define ADD_KEY(rotated)                                                     \
    do {                                                                     \
        a0 ^= rotated(key[0]);                                               \
        a1 ^= rotated(key[1]);                                               \
        a2 ^= rotated(key[2]);                                               \
        a3 ^= rotated(key[3]);                                               \
        b0 ^= rotated(key[4]);                                               \
        b1 ^= rotated(key[5]);                                               \
        b2 ^= rotated(key[6]);                                               \
        b3 ^= rotated(key[7]);                                               \
    } while (0)

#define ROTATED(x)                                                           \
    (((x) & 0xffe0ffe0u) >> 5 | ((x) & 0x001f001fu) << 11)
#define PLAIN(x) (x)

#endif
