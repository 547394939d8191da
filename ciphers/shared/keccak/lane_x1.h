/*
 * A lane of Keccak-f[200] is a byte.
 */
#ifndef KECCAK200_LANE_H
#define KECCAK200_LANE_H

#include <stdint.h>

typedef uint8_t keccak200_lane;

#define EVERY(b) (b)
#define ROL(a, n) (keccak200_lane)((a) << (n) | (a) >> (8 - (n)))

#endif
