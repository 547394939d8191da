/*
 * A lane of Keccak-f[200] is a word, every byte of which is that lane of one
 * of four states.
 */
#ifndef KECCAK200_LANE_H
#define KECCAK200_LANE_H

#include <stdint.h>

typedef uint32_t keccak200_lane;

#define EVERY(b) ((uint32_t)(b) * 0x01010101u)
#define ROL(a, n)                                                            \
    (((a) << (n) & EVERY(0xff << (n) & 0xff)) |                              \
     ((a) >> (8 - (n)) & EVERY(0xff >> (8 - (n)))))

#endif
