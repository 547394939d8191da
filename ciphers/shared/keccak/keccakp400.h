/*
 * Keccak-p[400, n_r]: FIPS 202, section 3, with lanes of w = 16 bits.
 */
#ifndef KECCAKP400_H
#define KECCAKP400_H

#include <limits.h>
#include <stdint.h>

/*
 * Lane (x, y) is a[5y + x].  Where numbers are at least 32 bits wide a lane is
 * held twice, side by side: then a rotation of 16 bits is one of 32 bits.
 */
#if UINT_MAX > 0xffff
typedef uint32_t keccakp400_lane;
#define KECCAKP400_LANE(v) ((uint32_t)(v) * 0x00010001u)
#else
typedef uint16_t keccakp400_lane;
#define KECCAKP400_LANE(v) ((uint16_t)(v))
#endif

typedef struct {
    keccakp400_lane a[25];
} keccakp400_state;

#define KECCAKP400_BYTES 50u

/* Byte i of the state as a string (FIPS 202, 3.1.2 and B.1). */
#define KECCAKP400_GET(s, i) ((uint8_t)((i) & 1 ? \
    (s)->a[(i) / 2] >> 8 : (s)->a[(i) / 2] & 0xff))
#define KECCAKP400_ADD(s, i, v) ((s)->a[(i) / 2] ^= KECCAKP400_LANE( \
    (i) & 1 ? (uint16_t)((uint16_t)(v) << 8) : (uint16_t)(v)))

/* The last rounds of Keccak-f[400], as Keccak-p has it: rounds <= 20. */
void keccakp400(keccakp400_state *s, uint8_t rounds);

#endif
