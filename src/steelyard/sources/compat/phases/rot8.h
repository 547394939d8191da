/* For block ciphers of the first FELICS that were taken out of its tree, which has its own: rot8l3 rotates 8 bits to the
   left by 3. */
#ifndef STEELYARD_ROT8_H
#define STEELYARD_ROT8_H

#include <stdint.h>

#define STEELYARD_ROT8(n) \
    static inline uint8_t rot8l##n(uint8_t x) \
    { \
        return (uint8_t)(x << n | x >> (8 - n)); \
    } \
    static inline uint8_t rot8r##n(uint8_t x) \
    { \
        return (uint8_t)(x >> n | x << (8 - n)); \
    }
STEELYARD_ROT8(1)
STEELYARD_ROT8(2)
STEELYARD_ROT8(3)
STEELYARD_ROT8(4)

#endif
