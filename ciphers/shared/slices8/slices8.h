/*
 * Sixteen nibbles as two words of eight; byte b of a word holds bit b of its
 * nibbles, nibble n in bit n of the bytes.
 */
#ifndef SLICES8_H
#define SLICES8_H

#include "bytes.h"

typedef uint32_t slice; /* of its bits the lowest byte counts */

/* Exchanges the bits of x under the mask with those n places above. */
#define SWAP(x, mask, n)                                                     \
    do {                                                                     \
        uint32_t swap_ = ((x) >> (n) ^ (x)) & (mask);                        \
                                                                             \
        (x) ^= swap_ ^ swap_ << (n);                                         \
    } while (0)

/* Bit t of byte j becomes bit j of byte t; bytes 0 to 3 are in low. An
 * involution. In front: bytes of two nibbles; behind: the low nibbles in low,
 * the high ones in high, byte j's in bit j. */
#define TRANSPOSE(low, high)                                                 \
    do {                                                                     \
        uint32_t cross_;                                                     \
                                                                             \
        SWAP(low, 0x00AA00AA, 7);                                            \
        SWAP(high, 0x00AA00AA, 7);                                           \
        SWAP(low, 0x0000CCCC, 14);                                           \
        SWAP(high, 0x0000CCCC, 14);                                          \
        cross_ = ((low) >> 4 ^ (high)) & 0x0F0F0F0F;                         \
        (high) ^= cross_;                                                    \
        (low) ^= cross_ << 4;                                                \
    } while (0)

/* A word as four slices and back; what is above a slice is dropped. */
#define SPLIT(x, w)                                                          \
    ((x)[0] = (w), (x)[1] = (w) >> 8, (x)[2] = (w) >> 16, (x)[3] = (w) >> 24)
#define JOIN(x)                                                              \
    (((x)[0] & 0xFF) | ((x)[1] & 0xFF) << 8 | ((x)[2] & 0xFF) << 16 |        \
     (x)[3] << 24)

#endif
