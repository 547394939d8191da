/* For block ciphers of the first FELICS that were taken out of its tree, which has its own: rot32l3 rotates 32 bits to the
   left by 3. */
#ifndef STEELYARD_ROT32_H
#define STEELYARD_ROT32_H

#include <stdint.h>

#define STEELYARD_ROT32(n) \
    static inline uint32_t rot32l##n(uint32_t x) \
    { \
        return (uint32_t)(x << n | x >> (32 - n)); \
    } \
    static inline uint32_t rot32r##n(uint32_t x) \
    { \
        return (uint32_t)(x >> n | x << (32 - n)); \
    }
STEELYARD_ROT32(1)
STEELYARD_ROT32(2)
STEELYARD_ROT32(3)
STEELYARD_ROT32(4)
STEELYARD_ROT32(5)
STEELYARD_ROT32(6)
STEELYARD_ROT32(7)
STEELYARD_ROT32(8)
STEELYARD_ROT32(9)
STEELYARD_ROT32(10)
STEELYARD_ROT32(11)
STEELYARD_ROT32(12)
STEELYARD_ROT32(13)
STEELYARD_ROT32(14)
STEELYARD_ROT32(15)
STEELYARD_ROT32(16)

#endif
