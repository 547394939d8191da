/*
 * bits32(x, n): bits n to n + 31 of an array of 32-bit words, whose bit 0 is
 * the least significant bit of x[0]; n is constant.
 *
 * On cores that shift by one bit only, the nearest byte is addressed and what
 * is left is shifted bit by bit to the nearer side, as in rotate32.h.
 */
#ifndef BITS32_H
#define BITS32_H

#include <stdint.h>
#include <string.h>

#if defined(__AVR__)

static inline uint32_t __attribute__((always_inline))
bits32(const uint32_t *x, uint8_t n)
{
    uint8_t byte = (uint8_t)((n + 3) / 8), i;
    const uint8_t *p = (const uint8_t *)x + byte;
    uint32_t y;

    memcpy(&y, p, 4);
    if (8 * byte < n) {
        uint8_t above = p[4];

        for (i = (uint8_t)(8 * byte); i < n; i++)
            __asm__("lsr %1\n\t"
                    "ror %D0\n\t"
                    "ror %C0\n\t"
                    "ror %B0\n\t"
                    "ror %A0"
                    : "+r"(y), "+r"(above));
    } else if (n < 8 * byte) {
        uint8_t below = p[-1];

        for (i = n; i < 8 * byte; i++)
            __asm__("lsl %1\n\t"
                    "rol %A0\n\t"
                    "rol %B0\n\t"
                    "rol %C0\n\t"
                    "rol %D0"
                    : "+r"(y), "+r"(below));
    }
    return y;
}

#elif defined(__MSP430__)

#ifdef __clang__ /* its assembly has no halves of an operand, and the flags, r2, are named */
#define LOW "%0"
#define HIGH "%1"
#define OTHER "%2"
#define OPERANDS(y, other) "+r"(y.half[0]), "+r"(y.half[1]), "+r"(other) : : "r2"
#else
#define LOW "%A0"
#define HIGH "%B0"
#define OTHER "%1"
#define OPERANDS(y, other) "+r"(y.word), "+r"(other)
#endif

static inline uint32_t __attribute__((always_inline))
bits32(const uint32_t *x, uint8_t n)
{
    const uint8_t *p = (const uint8_t *)x + n / 16 * 2;
    uint16_t half[3] = { 0, 0, 0 }, above, below;
    uint8_t shift = n & 15, byte = 0, i;
    union {
        uint32_t word;
        uint16_t half[2];
    } y;

    memcpy(half, p, n % 16 == 0 ? 4 : 6);
    y.half[0] = half[0];
    y.half[1] = half[1];
    above = half[2];
    below = 0;
    if (shift >= 12) {
        y.half[0] = half[1];
        y.half[1] = half[2];
        below = half[0];
        byte = 16;
    } else if (shift >= 5) {
        below = __builtin_bswap16(half[0]);
        above = __builtin_bswap16(half[2]);
        y.half[1] = __builtin_bswap16(half[1]);
        y.half[0] = (below & 0x00FF) | (y.half[1] & 0xFF00);
        y.half[1] = (y.half[1] & 0x00FF) | (above & 0xFF00);
        byte = 8;
    }
    for (i = byte; i < shift; i++)
        __asm__("rra " OTHER "\n\t"
                "rrc " HIGH "\n\t"
                "rrc " LOW
                : OPERANDS(y, above));
    for (i = shift; i < byte; i++)
        __asm__("rla " OTHER "\n\t"
                "rlc " LOW "\n\t"
                "rlc " HIGH
                : OPERANDS(y, below));
    return y.word;
}

#undef LOW
#undef HIGH
#undef OTHER
#undef OPERANDS

#else

static inline uint32_t bits32(const uint32_t *x, uint8_t n)
{
    uint8_t shift = n & 31;

    x += n / 32;
    return shift == 0 ? x[0] : x[0] >> shift | x[1] << (32 - shift);
}

#endif

#endif
