/*
 * What ORANGE-Zest and ORANGISH have in common (Algorithm 1 of the
 * specification).
 *
 * Strings are numbers, the first byte is the lowest one: of X || Y, Y comes
 * first.  So of the 32 bytes of a state U the first 16 are U^t, the last 16
 * are U^b.
 */
#ifndef ORANGE_H
#define ORANGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "photon256.h"

/* U += pad(D), of n <= 32 bytes */
static inline void orange_add(uint8_t *u, const uint8_t *d, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        u[i] ^= d[i];
    if (n < 32)
        u[n] ^= 1;
}

/* x = alpha x, in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1 */
static inline void orange_alpha(uint8_t *x)
{
    uint8_t carry = 0, i;

    for (i = 0; i < 16; i++) {
        uint8_t out = (uint8_t)(x[i] >> 7);

        x[i] = (uint8_t)(x[i] << 1 | carry);
        carry = out;
    }
    x[0] ^= (uint8_t)(-carry & 0x87);
}

/* mult(c, V) */
static inline void orange_mult(uint8_t c, uint8_t *v)
{
    while (c-- != 0)
        orange_alpha(v + 16);
}

#endif
