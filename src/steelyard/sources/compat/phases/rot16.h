/* For block ciphers of the first FELICS that were taken out of its tree, which has its own: rot16l3 rotates 16 bits to the
   left by 3. */
#ifndef STEELYARD_ROT16_H
#define STEELYARD_ROT16_H

#include <stdint.h>

#define STEELYARD_ROT16(n) \
    static inline uint16_t rot16l##n(uint16_t x) \
    { \
        return (uint16_t)(x << n | x >> (16 - n)); \
    } \
    static inline uint16_t rot16r##n(uint16_t x) \
    { \
        return (uint16_t)(x >> n | x << (16 - n)); \
    }
STEELYARD_ROT16(1)
STEELYARD_ROT16(2)
STEELYARD_ROT16(3)
STEELYARD_ROT16(4)
STEELYARD_ROT16(5)
STEELYARD_ROT16(6)
STEELYARD_ROT16(7)
STEELYARD_ROT16(8)

#endif
