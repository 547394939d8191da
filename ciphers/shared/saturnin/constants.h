/* Saturnin: the round constants (section 2.1.2). */
#ifndef CONSTANTS_H
#define CONSTANTS_H

#include <stdint.h>

/* RC_0 and RC_1: seven ones, R and D */
#define FIRST_CONSTANT(r, d) ((uint16_t)(0xfe00u | (r) << 4 | (d)))

/*
 * Sixteen clocks of an LFSR are a multiplication by X^16, modulo its
 * polynomial: by X^5 + X^3 + X^2 + 1 and X^6 + X^4 + X + 1.  What exceeds 16
 * bits is X^16 times something, too.
 */
#define TIMES_0(x) ((x) ^ (x) << 2 ^ (x) << 3 ^ (x) << 5)
#define TIMES_1(x) ((x) ^ (x) << 1 ^ (x) << 4 ^ (x) << 6)

static inline uint16_t saturnin_rc0(uint16_t rc0)
{
    uint32_t x = rc0;
    uint16_t high;

    x = TIMES_0(x);
    high = (uint16_t)(x >> 16);
    return (uint16_t)(x ^ TIMES_0(high));
}

static inline uint16_t saturnin_rc1(uint16_t rc1)
{
    uint32_t x = rc1;
    uint16_t high;

    x = TIMES_1(x);
    high = (uint16_t)(x >> 16);
    return (uint16_t)(x ^ TIMES_1(high));
}

#endif
