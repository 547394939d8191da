/*
 * Bit slices of eight nibbles, which are four bytes, low half first: slice b
 * has bit b of nibble i at place i, and is byte b of the result.
 *
 * A bit has the five index bits (i2 i1 i0 b1 b0), and slicing makes them
 * (b1 b0 i2 i1 i0).
 */
#ifndef NIBBLE_SLICES_H
#define NIBBLE_SLICES_H

#include <limits.h>
#include <stdint.h>

/* Exchanges two index bits of a word or a byte: the places under the mask,
 * and those n further. */
#define NIBBLES_SWAP(type, x, mask, n)                                       \
    do {                                                                     \
        type swapped = (type)(((x) ^ (x) >> (n)) & (mask));                  \
                                                                             \
        (x) ^= (type)(swapped ^ swapped << (n));                             \
    } while (0)

#if UINT_MAX == 0xffff

/* The same between bytes: x has one of the index bits 0, y has it 1. */
#define NIBBLES_EXCHANGE(x, y, mask, n)                                      \
    do {                                                                     \
        uint8_t exchanged = (uint8_t)(((y) ^ (x) >> (n)) & (mask));          \
                                                                             \
        (y) ^= exchanged;                                                    \
        (x) ^= (uint8_t)(exchanged << (n));                                  \
    } while (0)

/* i2 with b1, and i1 with b0 */
#define NIBBLES_EXCHANGE_ALL(x0, x1, x2, x3)                                 \
    do {                                                                     \
        NIBBLES_EXCHANGE(x0, x2, 0x33, 2);                                   \
        NIBBLES_EXCHANGE(x1, x3, 0x33, 2);                                   \
        NIBBLES_EXCHANGE(x0, x1, 0x55, 1);                                   \
        NIBBLES_EXCHANGE(x2, x3, 0x55, 1);                                   \
    } while (0)

static inline uint8_t nibbles_order(uint8_t x) /* (i0 i2 i1) to (i2 i1 i0) */
{
    NIBBLES_SWAP(uint8_t, x, 0x0c, 2);
    NIBBLES_SWAP(uint8_t, x, 0x22, 1);
    return x;
}

static inline uint8_t nibbles_disorder(uint8_t x)
{
    NIBBLES_SWAP(uint8_t, x, 0x22, 1);
    NIBBLES_SWAP(uint8_t, x, 0x0c, 2);
    return x;
}

/* The slices of the bytes at p, of which only the low eight bits count. */
static inline void nibbles_slices(uint_fast8_t *s, const uint8_t *p)
{
    uint8_t x0 = p[0], x1 = p[1], x2 = p[2], x3 = p[3];

    NIBBLES_EXCHANGE_ALL(x0, x1, x2, x3);
    s[0] = nibbles_order(x0);
    s[1] = nibbles_order(x1);
    s[2] = nibbles_order(x2);
    s[3] = nibbles_order(x3);
}

static inline uint32_t nibbles_slice(uint32_t w)
{
    uint8_t x0 = (uint8_t)w, x1 = (uint8_t)(w >> 8);
    uint8_t x2 = (uint8_t)(w >> 16), x3 = (uint8_t)(w >> 24);

    NIBBLES_EXCHANGE_ALL(x0, x1, x2, x3);
    return (uint32_t)nibbles_order(x0) | (uint32_t)nibbles_order(x1) << 8 |
           (uint32_t)nibbles_order(x2) << 16 |
           (uint32_t)nibbles_order(x3) << 24;
}

static inline uint32_t nibbles_unslice(uint32_t w)
{
    uint8_t x0 = nibbles_disorder((uint8_t)w);
    uint8_t x1 = nibbles_disorder((uint8_t)(w >> 8));
    uint8_t x2 = nibbles_disorder((uint8_t)(w >> 16));
    uint8_t x3 = nibbles_disorder((uint8_t)(w >> 24));

    NIBBLES_EXCHANGE_ALL(x0, x1, x2, x3);
    return (uint32_t)x0 | (uint32_t)x1 << 8 | (uint32_t)x2 << 16 |
           (uint32_t)x3 << 24;
}

#else

static inline uint32_t nibbles_slice(uint32_t w)
{
    NIBBLES_SWAP(uint32_t, w, 0x0000ccccu, 14); /* b1 i1 i0 i2 b0 */
    NIBBLES_SWAP(uint32_t, w, 0x00aa00aau, 7);  /* b1 b0 i0 i2 i1 */
    NIBBLES_SWAP(uint32_t, w, 0x0a0a0a0au, 3);  /* b1 b0 i1 i2 i0 */
    NIBBLES_SWAP(uint32_t, w, 0x0c0c0c0cu, 2);  /* b1 b0 i2 i1 i0 */
    return w;
}

static inline uint32_t nibbles_unslice(uint32_t w)
{
    NIBBLES_SWAP(uint32_t, w, 0x0c0c0c0cu, 2);
    NIBBLES_SWAP(uint32_t, w, 0x0a0a0a0au, 3);
    NIBBLES_SWAP(uint32_t, w, 0x00aa00aau, 7);
    NIBBLES_SWAP(uint32_t, w, 0x0000ccccu, 14);
    return w;
}

/* The slices of the bytes at p, of which only the low eight bits count. */
static inline void nibbles_slices(uint_fast8_t *s, const uint8_t *p)
{
    uint32_t w = nibbles_slice((uint32_t)p[0] | (uint32_t)p[1] << 8 |
                               (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);

    s[0] = (uint_fast8_t)w;
    s[1] = (uint_fast8_t)(w >> 8);
    s[2] = (uint_fast8_t)(w >> 16);
    s[3] = (uint_fast8_t)(w >> 24);
}

#endif

static inline uint32_t nibbles_load(const uint8_t *p)
{
    return nibbles_slice((uint32_t)p[0] | (uint32_t)p[1] << 8 |
                         (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

static inline void nibbles_store(uint8_t *p, uint32_t w)
{
    w = nibbles_unslice(w);
    p[0] = (uint8_t)w;
    p[1] = (uint8_t)(w >> 8);
    p[2] = (uint8_t)(w >> 16);
    p[3] = (uint8_t)(w >> 24);
}

#endif
