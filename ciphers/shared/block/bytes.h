/*
 * Words from bytes at any address and back, tables in flash, and the size of
 * a context.
 */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>
#include <string.h>

#include "api.h"
#include "crypto_block.h"

/* The context of a direction; what does not fit in it does not compile. */
#define CONTEXT(type)                                                        \
    typedef char type##_fits_[sizeof(type) <= CRYPTO_CONTEXTBYTES ? 1 : -1]

/* Harvard machines read constants from flash by instructions of their own;
 * as plain constants they would be copied to RAM. */
#if defined(__AVR__)
#include <avr/pgmspace.h>
#define TABLE(type) static const type PROGMEM
#define ENTRY8(x) pgm_read_byte(&(x))
#define ENTRY16(x) pgm_read_word(&(x))
#define ENTRY32(x) pgm_read_dword(&(x))
#else
#define TABLE(type) static const type
#define ENTRY8(x) (x)
#define ENTRY16(x) (x)
#define ENTRY32(x) (x)
#endif

/* most significant byte first */
#define LOAD16BE(p) ((uint16_t)(((uint16_t)(p)[0] << 8) | (p)[1]))
#define STORE16BE(p, x)                                                      \
    ((p)[0] = (uint8_t)((x) >> 8), (p)[1] = (uint8_t)(x))

/* least significant byte first */
#define LOAD16LE(p) ((uint16_t)(((uint16_t)(p)[1] << 8) | (p)[0]))
#define STORE16LE(p, x)                                                      \
    ((p)[0] = (uint8_t)(x), (p)[1] = (uint8_t)((x) >> 8))

static inline uint32_t load32be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
           (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void store32be(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)(x >> 24);
    p[1] = (uint8_t)(x >> 16);
    p[2] = (uint8_t)(x >> 8);
    p[3] = (uint8_t)x;
}

static inline uint32_t load32le(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 |
           (uint32_t)p[1] << 8 | (uint32_t)p[0];
}

static inline void store32le(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

static inline uint64_t load64be(const uint8_t *p)
{
    return (uint64_t)load32be(p) << 32 | load32be(p + 4);
}

static inline void store64be(uint8_t *p, uint64_t x)
{
    store32be(p, (uint32_t)(x >> 32));
    store32be(p + 4, (uint32_t)x);
}

#endif
