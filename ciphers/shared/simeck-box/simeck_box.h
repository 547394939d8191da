/*
 * The Simeck sbox of ACE, Spix and SpoC (Definition 1 of their
 * specifications): Simeck on two words of m bits, m / 4 rounds, with
 * constants in the place of keys.
 *
 * SIMECK_M, which is 32 or 24, is in params.h.
 */
#ifndef SIMECK_BOX_H
#define SIMECK_BOX_H

#include <stdint.h>

#include "params.h"

#define SIMECK_BYTES (SIMECK_M / 8)

/* x_1 || x_0 as x[0] and x[1]; a word is in the low bits. */
void simeck_box(uint32_t *x, uint8_t rc);

/* A word as bytes, the first byte being the highest. */
static inline uint32_t simeck_load(const uint8_t *p)
{
#if SIMECK_M == 32
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
           (uint32_t)p[2] << 8 | (uint32_t)p[3];
#else
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | (uint32_t)p[2];
#endif
}

static inline void simeck_store(uint8_t *p, uint32_t x)
{
#if SIMECK_M == 32
    *p++ = (uint8_t)(x >> 24);
#endif
    p[0] = (uint8_t)(x >> 16);
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)x;
}

/* Tables of constants, in flash */
#if defined(__AVR__)
#include <avr/pgmspace.h>

#define SIMECK_TABLE const uint8_t PROGMEM
#define SIMECK_CONSTANT(p) pgm_read_byte(p)
#else
#define SIMECK_TABLE const uint8_t
#define SIMECK_CONSTANT(p) (*(p))
#endif

#endif
