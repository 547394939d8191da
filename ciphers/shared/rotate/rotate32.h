/*
 * Rotations of 32-bit words by constants, 0 < n < 32, in constant time.
 *
 * Cores that shift by one bit only: whole bytes are moved, and what is left is
 * rotated bit by bit to the nearer side.  Their compilers do not find the
 * carry (avr-gcc 5.4 shifts in loops of five cycles, msp430-elf-gcc 12 calls
 * functions even for shifts by bytes), hence the assembly for one bit.
 */
#ifndef ROTATE32_H
#define ROTATE32_H

#include <stdint.h>

#if defined(__AVR__)

#define ROTATE32_LEFT_1(x)                                                   \
    __asm__("lsl %A0\n\t"                                                    \
            "rol %B0\n\t"                                                    \
            "rol %C0\n\t"                                                    \
            "rol %D0\n\t"                                                    \
            "adc %A0, __zero_reg__"                                          \
            : "+r"(x))
#define ROTATE32_RIGHT_1(x)                                                  \
    __asm__("bst %A0, 0\n\t"                                                 \
            "ror %D0\n\t"                                                    \
            "ror %C0\n\t"                                                    \
            "ror %B0\n\t"                                                    \
            "ror %A0\n\t"                                                    \
            "bld %D0, 7"                                                     \
            : "+r"(x))

static inline uint32_t rotate32_bytes(uint32_t x, uint8_t bytes)
{
    return bytes == 0 ? x : x << 8 * bytes | x >> (32 - 8 * bytes);
}

#elif defined(__MSP430__)

#ifdef __clang__ /* its assembly has no halves of an operand, and the flags, r2, are named */
#define ROTATE32_HALVES(x, code)                                             \
    do {                                                                     \
        uint16_t low_ = (uint16_t)(x), high_ = (uint16_t)((x) >> 16);        \
        __asm__(code : "+r"(low_), "+r"(high_) : : "r2");                    \
        (x) = (uint32_t)high_ << 16 | low_;                                  \
    } while (0)
#define ROTATE32_LEFT_1(x)                                                   \
    ROTATE32_HALVES(x, "rla %0\n\trlc %1\n\tadc %0")
#define ROTATE32_RIGHT_1(x)                                                  \
    ROTATE32_HALVES(x, "bit #1, %0\n\trrc %1\n\trrc %0")
#else
#define ROTATE32_LEFT_1(x)                                                   \
    __asm__("rla %A0\n\t"                                                    \
            "rlc %B0\n\t"                                                    \
            "adc %A0"                                                        \
            : "+r"(x))
#define ROTATE32_RIGHT_1(x)                                                  \
    __asm__("bit #1, %A0\n\t"                                                \
            "rrc %B0\n\t"                                                    \
            "rrc %A0"                                                        \
            : "+r"(x))
#endif

static inline uint32_t rotate32_bytes(uint32_t x, uint8_t bytes)
{
    union {
        uint32_t word;
        uint16_t half[2];
    } y;
    uint16_t low, high, change;

    y.word = x;
    low = y.half[0];
    high = y.half[1];
    if (bytes & 2) {
        low = y.half[1];
        high = y.half[0];
    }
    if (bytes & 1) {
        low = __builtin_bswap16(low);
        high = __builtin_bswap16(high);
        change = (low ^ high) & 0x00FF;
        low ^= change;
        high ^= change;
    }
    y.half[0] = low;
    y.half[1] = high;
    return y.word;
}

#endif

#ifdef ROTATE32_LEFT_1

static inline uint32_t __attribute__((always_inline))
rotl32(uint32_t x, uint8_t n)
{
    uint8_t bytes = (uint8_t)((n + 3) / 8), i;

    x = rotate32_bytes(x, bytes & 3);
    for (i = (uint8_t)(8 * bytes); i < n; i++)
        ROTATE32_LEFT_1(x);
    for (i = n; i < 8 * bytes; i++)
        ROTATE32_RIGHT_1(x);
    return x;
}

#define rotr32(x, n) rotl32(x, 32 - (n))

#else

#define rotl32(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define rotr32(x, n) ((x) >> (n) | (x) << (32 - (n)))

#endif

#endif
