/*
 * S-box, L-box and round constants of Clyde-128 and Shadow (Spook, section
 * 3.4), on the rows of a bundle: words of 32 bits, the first bit lowest.
 */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include <stdint.h>

#define LOAD32(p)                                                            \
    ((uint32_t)(p)[0] | (uint32_t)(p)[1] << 8 | (uint32_t)(p)[2] << 16 |     \
     (uint32_t)(p)[3] << 24)

#define STORE32(p, x)                                                        \
    do {                                                                     \
        (p)[0] = (uint8_t)(x);                                               \
        (p)[1] = (uint8_t)((x) >> 8);                                        \
        (p)[2] = (uint8_t)((x) >> 16);                                       \
        (p)[3] = (uint8_t)((x) >> 24);                                       \
    } while (0)

/* rot(x, n): the bits x[0], x[1], ... of the row to the left, which is to the
 * right in the word. */
#if defined(__AVR__)
#define SPOOK_INLINE __attribute__((noinline, unused))

/* Moves of bytes, and shifts by one with the carry, which the compiler does
 * not know. */
static inline uint32_t rot(uint32_t x, uint8_t n)
{
    const uint8_t bytes = (uint8_t)((n + 4) & 24);

    if (bytes != 0)
        x = x >> bytes | x << (32 - bytes);
    for (; (n & 7) != 0 && (n & 7) <= 3; n--)
        __asm__("bst %A0,0\n\tror %D0\n\tror %C0\n\tror %B0\n\tror %A0\n\t"
                "bld %D0,7" : "+r"(x));
    for (; (n & 7) != 0; n++)
        __asm__("lsl %A0\n\trol %B0\n\trol %C0\n\trol %D0\n\t"
                "adc %A0,__zero_reg__" : "+r"(x));
    return x;
}
#else
#define SPOOK_INLINE inline
#define rot(x, n) ((x) >> (n) | (x) << (32 - (n)))
#endif

/* y1 = S(x)[1] and so on */
#define SPOOK_S(type, x0, x1, x2, x3)                                        \
    do {                                                                     \
        const type y1_ = (type)((x0 & x1) ^ x2);                             \
        const type y0_ = (type)((x3 & x0) ^ x1);                             \
        const type y3_ = (type)((y1_ & x3) ^ x0);                            \
                                                                             \
        x2 = (type)((y0_ & y1_) ^ x3);                                       \
        x0 = y0_;                                                            \
        x1 = y1_;                                                            \
        x3 = y3_;                                                            \
    } while (0)

/* x = S(x) in all columns of a bundle; on AVR a byte of the rows at a time,
 * which the registers can hold */
static SPOOK_INLINE void spook_s(uint32_t *x)
{
#if defined(__AVR__)
    uint8_t *p = (uint8_t *)x, i;

    for (i = 0; i < 4; i++) {
        uint8_t x0 = p[0], x1 = p[4], x2 = p[8], x3 = p[12];

        SPOOK_S(uint8_t, x0, x1, x2, x3);
        p[0] = x0;
        p[4] = x1;
        p[8] = x2;
        p[12] = x3;
        p++;
    }
#else
    SPOOK_S(uint32_t, x[0], x[1], x[2], x[3]);
#endif
}

/* x[0], x[1] = L'(x[0], x[1]) */
static SPOOK_INLINE void spook_l(uint32_t *x)
{
    uint32_t a = x[0] ^ rot(x[0], 12);
    uint32_t b = x[1] ^ rot(x[1], 12);
    uint32_t c, d;

    a ^= rot(a, 3);
    b ^= rot(b, 3);
    a ^= rot(x[0], 17);
    b ^= rot(x[1], 17);
    c = a ^ rot(a, 31);
    d = b ^ rot(b, 31);
    a ^= rot(d, 26);
    b ^= rot(c, 25);
    x[0] = a ^ rot(c, 15);
    x[1] = b ^ rot(d, 15);
}

/* The round constants, the state of an LFSR: bit i for row i */
#define FIRST_CONSTANT 1
#define AFTER_LAST_CONSTANT 15
#define NEXT_CONSTANT(w) (uint8_t)(((w) << 1 & 15) ^ ((w) >> 3) * 3)
#define PREVIOUS_CONSTANT(w)                                                 \
    (uint8_t)(((w) & 1) ? ((w) ^ 3) >> 1 | 8 : (w) >> 1)
#define ADD_CONSTANT(w, x, bit)                                              \
    do {                                                                     \
        (x)[0] ^= (uint8_t)(((w) & 1) << (bit));                             \
        (x)[1] ^= (uint8_t)(((w) >> 1 & 1) << (bit));                        \
        (x)[2] ^= (uint8_t)(((w) >> 2 & 1) << (bit));                        \
        (x)[3] ^= (uint8_t)(((w) >> 3 & 1) << (bit));                        \
    } while (0)

#endif
