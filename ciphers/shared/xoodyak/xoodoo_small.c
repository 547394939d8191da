/*
 * Xoodoo[12], small.
 *
 * The lanes stay in place: rho_west and rho_east move plane 1 by one lane and
 * plane 2 by two lanes a round, so that r rounds after the start lane (x, 1)
 * is found at place x - r and lane (x, 2) at place x - 2r, modulo 4.  After
 * twelve rounds every lane is at its own place again.
 */
#include "xoodoo.h"

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

#if defined(__AVR__)
/* One bit at a time: a loop of seven cycles is smaller than shifts by n and
 * by 32 - n, and no slower. */
static uint32_t __attribute__((noinline)) rotl(uint32_t x, uint8_t n)
{
    do
        x = ROTL(x, 1);
    while (--n != 0);
    return x;
}
#else
#define rotl(x, n) ROTL(x, n)
#endif

void xoodoo(xoodoo_state *s)
{
    uint32_t *a = s->a;
    uint32_t e[4];
    uint8_t r, x;
    /*
     * Table 2: the constant of a round is (8 + p) * 2^q, where p runs through
     * GF(8) = GF(2)[t]/(t^3 + t + 1) by multiplication with t and q through
     * the integers modulo 7 by multiplication with 3.
     */
    uint8_t p = 3, q = 3;

    for (r = 0; r < 12; r++) {
        /* theta: P and E */
        for (x = 0; x < 4; x++) {
            uint32_t parity = a[x] ^ a[4 + ((x - r) & 3)] ^
                              a[8 + ((x - 2 * r) & 3)];

            parity = rotl(parity, 5);
            e[(x + 1) & 3] = parity ^ rotl(parity, 9);
        }

        /* iota, before theta is completed: both are additions */
        a[0] ^= (8u + p) << q;
        p = (uint8_t)(p << 1);
        if (p & 8)
            p ^= 11;
        q = (uint8_t)(3 * q);
        while (q >= 7)
            q = (uint8_t)(q - 7);

        for (x = 0; x < 4; x++) {
            uint32_t *lane1 = &a[4 + ((x - 1 - r) & 3)];
            uint32_t *lane2 = &a[8 + ((x - 2 * r) & 3)];
            /* theta: addition of E; rho_west */
            uint32_t a0 = a[x] ^ e[x];
            uint32_t a1 = *lane1 ^ e[(x - 1) & 3];
            uint32_t a2 = rotl(*lane2 ^ e[x], 11);

            /* chi; rho_east */
            a[x] = a0 ^ (~a1 & a2);
            *lane1 = rotl(a1 ^ (~a2 & a0), 1);
            *lane2 = rotl(a2 ^ (~a0 & a1), 8);
        }
    }
}
