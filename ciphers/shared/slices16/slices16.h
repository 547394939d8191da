/*
 * A state of 16 nibbles in four slices: bit n of slice b is bit b of nibble n,
 * nibble 0 the lowest of the 64-bit word that is loaded. Two slices share a
 * word for what all bits do alike.
 */
#ifndef SLICES16_H
#define SLICES16_H

#include "bytes.h"

typedef uint32_t slice; /* of its 32 bits the lower half counts */

/* Exchanges the bits of x under the mask with those n places above. */
#define SWAP(x, mask, n)                                                     \
    do {                                                                     \
        uint32_t swap_ = ((x) >> (n) ^ (x)) & (mask);                        \
                                                                             \
        (x) ^= swap_ ^ swap_ << (n);                                         \
    } while (0)

/* The same between words: bits of a above the mask, of b under it. */
#define SWAP_WORDS(a, b, mask, n)                                            \
    do {                                                                     \
        uint32_t swap_ = ((a) >> (n) ^ (b)) & (mask);                        \
                                                                             \
        (b) ^= swap_;                                                        \
        (a) ^= swap_ << (n);                                                 \
    } while (0)

/* low: nibbles 0 to 7; in the end slices 0 and, above, 1. high: nibbles 8 to
 * 15; slices 2 and 3. Bit 4 n + b goes to 16 b + n. */
#define TO_SLICES(low, high)                                                 \
    do {                                                                     \
        SWAP(low, 0x0A0A0A0A, 3);                                            \
        SWAP(high, 0x0A0A0A0A, 3);                                           \
        SWAP(low, 0x00CC00CC, 6);                                            \
        SWAP(high, 0x00CC00CC, 6);                                           \
        SWAP(low, 0x0000F0F0, 12);                                           \
        SWAP(high, 0x0000F0F0, 12);                                          \
        SWAP_WORDS(low, high, 0x00FF00FF, 8);                                \
    } while (0)

#define TO_NIBBLES(low, high)                                                \
    do {                                                                     \
        SWAP_WORDS(low, high, 0x00FF00FF, 8);                                \
        SWAP(low, 0x0000F0F0, 12);                                           \
        SWAP(high, 0x0000F0F0, 12);                                          \
        SWAP(low, 0x00CC00CC, 6);                                            \
        SWAP(high, 0x00CC00CC, 6);                                           \
        SWAP(low, 0x0A0A0A0A, 3);                                            \
        SWAP(high, 0x0A0A0A0A, 3);                                           \
    } while (0)

/* Two words as four slices and back; what is above a slice is dropped. */
#define SPLIT(x, low, high)                                                  \
    ((x)[0] = (low), (x)[1] = (low) >> 16, (x)[2] = (high),                  \
     (x)[3] = (high) >> 16)
#define JOIN(x, low, high)                                                   \
    ((low) = ((x)[0] & 0xFFFF) | (x)[1] << 16,                               \
     (high) = ((x)[2] & 0xFFFF) | (x)[3] << 16)

#endif
