/*
 * TinyJAMBU-128, 32 rounds of StateUpdate (section 3.2.3) for AVR.
 *
 * AVR shifts by one bit only and one byte at a time, but a load from any byte
 * address costs nothing extra: bits n .. n+31 of the state with n = 8q + r are
 * the word at byte q, shifted right by r (r = 3 for s_91), or the word at byte
 * q + 1, shifted left by 8 - r.  The three other taps are 47 = 48 - 1,
 * 70 = 72 - 2 and 85 = 88 - 3, so that with w(n) = s_n .. s_(n+31)
 *
 *   w(47) ^ (w(70) & w(85))
 *     = (((w(72) & (w(88) << 1 | s_87)) << 1) ^ w(48)) << 1,
 *
 * where the lowest two bits, shifted in from below, are s_47 ^ (s_70 & s_85)
 * and s_71 & s_86.  That is three one-bit shifts instead of six.
 */
#ifndef FEEDBACK_AVR_H
#define FEEDBACK_AVR_H

#include <string.h>

#include "tinyjambu.h"

/* Keeps the compiler from joining one-bit shifts to a loop. */
#define OPAQUE(x) __asm__("" : "+r"(x))

static inline uint32_t shift_left_1(uint32_t x)
{
    x <<= 1;
    OPAQUE(x);
    return x;
}

static inline uint32_t shift_right_1(uint32_t x)
{
    x >>= 1;
    OPAQUE(x);
    return x;
}

static inline uint32_t word_at(const uint8_t *p)
{
    uint32_t x;

    memcpy(&x, p, 4); /* AVR is little-endian */
    return x;
}

/* The feedback of the next 32 rounds; s is the state, k the key word. */
static inline uint32_t feedback_avr(const uint8_t *s, const uint8_t *k)
{
    uint32_t x, y;
    uint8_t below;

    x = shift_left_1(word_at(s + 11)) | (uint8_t)(s[10] >> 7); /* w(87) */
    x &= word_at(s + 9);                                       /* w(72) */
    x = shift_left_1(x) ^ word_at(s + 6);                      /* w(48) */
    /* bits 6 and 7: s_70 & s_85 and s_71 & s_86 */
    below = (uint8_t)(s[10] << 1);
    below &= s[8];
    below = (uint8_t)(below >> 6);
    below ^= (uint8_t)(s[5] >> 7); /* s_47 */
    x = shift_left_1(x) ^ below;

    x ^= word_at(s);
    x ^= word_at(k);

    y = shift_right_1(word_at(s + 11)); /* s_91 .. s_119 */
    y = shift_right_1(y);
    y = shift_right_1(y);
    x ^= y;
    x ^= (uint32_t)(uint8_t)(s[15] << 5) << 24; /* s_120 .. s_122 */
    return ~x;
}

#endif
