/* More live values than registers, across calls; what a function must save; a stream cipher's rounds. */
#include "torture.h"

static NOINLINE uint32_t outside(uint32_t v) { return v ^ v >> 5; }

#define QUARTER(a, b, c, d) \
    do { \
        a += b, d ^= a, d = d << 16 | d >> 16; \
        c += d, b ^= c, b = b << 12 | b >> 20; \
        a += b, d ^= a, d = d << 8 | d >> 24; \
        c += d, b ^= c, b = b << 7 | b >> 25; \
    } while (0)

uint32_t registers(void)
{
    uint32_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14,
             o = 15, p = 16;
    for (uint8_t round = 0; round < 4; round++) {
        QUARTER(a, e, i, m);
        QUARTER(b, f, j, n);
        QUARTER(c, g, k, o);
        QUARTER(d, h, l, p);
        m += outside(n);
        QUARTER(a, f, k, p);
        QUARTER(b, g, l, m);
        QUARTER(c, h, i, n);
        QUARTER(d, e, j, o);
        e ^= outside(a + b) + outside(c);
    }
    return mix(mix(a ^ b ^ c ^ d, e + f + g + h), mix(i - j - k - l, m ^ n ^ o ^ p));
}
