/*
 * GHASH (SP 800-38D, section 6.4).
 *
 * The first bit of a block, the coefficient of x^0, is the most significant
 * bit of word 0.  The product of two blocks as polynomials of 32-bit words is
 * then the product divided by x; hence h is H / x.
 */
#include <limits.h>

#include "ghash.h"

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
           (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

/* multiply32: r = a * b, polynomials over GF(2); r[0] is the higher word. */
#if defined(__AVR__)

/* Bit 7 of all bytes of b, then bit 6, ..., so that the product is shifted
 * only eight times. */
#define SHIFT(r, below) ((r) = (uint8_t)((r) << 1 | (below) >> 7))
#define ADD(b, r0, r1, r2, r3)                                               \
    do {                                                                     \
        uint8_t mask = 0;                                                    \
                                                                             \
        mask = (uint8_t)(mask - ((b) >> 7));                                 \
        (r0) ^= a0 & mask;                                                   \
        (r1) ^= a1 & mask;                                                   \
        (r2) ^= a2 & mask;                                                   \
        (r3) ^= a3 & mask;                                                   \
        (b) = (uint8_t)((b) << 1);                                           \
    } while (0)

static void __attribute__((noinline))
multiply32(uint32_t *r, uint32_t a, uint32_t b)
{
    uint8_t a0 = (uint8_t)a, a1 = (uint8_t)(a >> 8);
    uint8_t a2 = (uint8_t)(a >> 16), a3 = (uint8_t)(a >> 24);
    uint8_t b0 = (uint8_t)b, b1 = (uint8_t)(b >> 8);
    uint8_t b2 = (uint8_t)(b >> 16), b3 = (uint8_t)(b >> 24);
    uint8_t r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0, r5 = 0, r6 = 0, r7 = 0;
    uint8_t i;

    for (i = 0; i < 8; i++) {
        SHIFT(r7, r6);
        SHIFT(r6, r5);
        SHIFT(r5, r4);
        SHIFT(r4, r3);
        SHIFT(r3, r2);
        SHIFT(r2, r1);
        SHIFT(r1, r0);
        SHIFT(r0, 0);
        ADD(b0, r0, r1, r2, r3);
        ADD(b1, r1, r2, r3, r4);
        ADD(b2, r2, r3, r4, r5);
        ADD(b3, r3, r4, r5, r6);
    }
    r[0] = (uint32_t)r7 << 24 | (uint32_t)r6 << 16 | (uint32_t)r5 << 8 | r4;
    r[1] = (uint32_t)r3 << 24 | (uint32_t)r2 << 16 | (uint32_t)r1 << 8 | r0;
}

#elif UINT_MAX == 0xFFFF

/* The halves of a word by their addresses: compilers for the MSP430 shift by
 * 16 in a loop. */
typedef union {
    uint32_t x;
    uint16_t half[2];
} word;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW 1
#else
#define LOW 0
#endif
#define HIGH (1 - LOW)

static uint32_t multiply16(uint16_t a, uint16_t b)
{
    word p;
    uint8_t i;

    p.half[HIGH] = 0;
    p.half[LOW] = b;
    for (i = 0; i < 16; i++) {
        p.half[HIGH] ^= a & (uint16_t)(0 - (p.half[LOW] & 1));
        p.x >>= 1;
    }
    return p.x;
}

static void multiply32(uint32_t *r, uint32_t a, uint32_t b)
{
    word x, y, high, middle, low;

    x.x = a;
    y.x = b;
    high.x = multiply16(x.half[HIGH], y.half[HIGH]);
    low.x = multiply16(x.half[LOW], y.half[LOW]);
    middle.x = multiply16(x.half[HIGH] ^ x.half[LOW],
                          y.half[HIGH] ^ y.half[LOW]) ^ high.x ^ low.x;
    high.half[LOW] ^= middle.half[HIGH];
    low.half[HIGH] ^= middle.half[LOW];
    r[0] = high.x;
    r[1] = low.x;
}

#else

#define STEP                                                                 \
    do {                                                                     \
        high = high << 1 | low >> 31;                                        \
        low = low << 1 ^ (a & (0 - (b >> 31)));                              \
        b <<= 1;                                                             \
    } while (0)

static void multiply32(uint32_t *r, uint32_t a, uint32_t b)
{
    uint32_t high = 0, low = 0;
    uint8_t i;

    for (i = 0; i < 4; i++) {
        STEP;
        STEP;
        STEP;
        STEP;
        STEP;
        STEP;
        STEP;
        STEP;
    }
    r[0] = high;
    r[1] = low;
}

#endif

/* By A. Karatsuba's method, two words by two. */
static void multiply64(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    uint32_t m[2];

    multiply32(r, a[0], b[0]);
    multiply32(r + 2, a[1], b[1]);
    multiply32(m, a[0] ^ a[1], b[0] ^ b[1]);
    m[0] ^= r[0] ^ r[2];
    m[1] ^= r[1] ^ r[3];
    r[1] ^= m[0];
    r[2] ^= m[1];
}

/* Y = Y * H (section 6.3) */
static void multiply(ghash *g)
{
    uint32_t r[8], m[4], u[2], v[2];
    uint8_t i;

    multiply64(r, g->y, g->h);
    multiply64(r + 4, g->y + 2, g->h + 2);
    for (i = 0; i < 2; i++) {
        u[i] = g->y[i] ^ g->y[2 + i];
        v[i] = g->h[i] ^ g->h[2 + i];
    }
    multiply64(m, u, v);
    for (i = 0; i < 4; i++)
        m[i] ^= r[i] ^ r[4 + i];
    for (i = 0; i < 4; i++)
        r[2 + i] ^= m[i];

    /* x^128 = 1 + x + x^2 + x^7 */
    for (i = 7; i >= 4; i--) {
        uint32_t x = r[i];

        r[i - 4] ^= x ^ x >> 1 ^ x >> 2 ^ x >> 7;
        r[i - 3] ^= (x ^ x << 5 ^ x << 6) << 25;
    }
    for (i = 0; i < 4; i++)
        g->y[i] = r[i];
}

void ghash_start(ghash *g, const uint8_t *h)
{
    uint32_t carry;
    uint8_t i;

    for (i = 0; i < 4; i++) {
        g->h[i] = load32(h + 4 * i);
        g->y[i] = 0;
    }
    /* 1 / x = 1 + x + x^6 + x^127 */
    carry = 0 - (g->h[0] >> 31);
    for (i = 0; i < 3; i++)
        g->h[i] = g->h[i] << 1 | g->h[i + 1] >> 31;
    g->h[3] = g->h[3] << 1 ^ (carry & 1);
    g->h[0] ^= carry & 0xC2000000;
}

void ghash_add(ghash *g, const uint8_t *x, size_t len)
{
    while (len >= 16) {
        uint8_t i;

        for (i = 0; i < 4; i++)
            g->y[i] ^= load32(x + 4 * i);
        multiply(g);
        x += 16;
        len -= 16;
    }
    if (len != 0) {
        uint8_t i;

        for (i = 0; i < len; i++)
            g->y[i / 4] ^= (uint32_t)x[i] << (24 - 8 * (i % 4));
        multiply(g);
    }
}

void ghash_finish(ghash *g, size_t adlen, size_t len, uint8_t *y)
{
    uint8_t i;

    g->y[0] ^= (uint32_t)((uint64_t)adlen >> 29);
    g->y[1] ^= (uint32_t)((uint64_t)adlen << 3);
    g->y[2] ^= (uint32_t)((uint64_t)len >> 29);
    g->y[3] ^= (uint32_t)((uint64_t)len << 3);
    multiply(g);
    for (i = 0; i < 16; i++)
        y[i] = (uint8_t)(g->y[i / 4] >> (24 - 8 * (i % 4)));
}
