/*
 * Keccak-f[200].
 */
#include "keccak200.h"

typedef keccak200_lane lane;

/* theta, the column parity of column x */
#define PARITY(x) (lane)(a[x] ^ a[5 + (x)] ^ a[10 + (x)] ^ a[15 + (x)] ^     \
                         a[20 + (x)])

/* theta, its end, and rho: lane (x, y) rotated by t[x, y] mod 8 */
#define RHO(x, y, t) ROL((lane)(a[5 * (y) + (x)] ^ d[x]), t)
#define RHO0(x, y) (lane)(a[5 * (y) + (x)] ^ d[x])

/* chi, on row y */
#define CHI(y)                                                               \
    do {                                                                     \
        b[5 * (y)] = (lane)(b0 ^ (~b1 & b2));                                \
        b[5 * (y) + 1] = (lane)(b1 ^ (~b2 & b3));                            \
        b[5 * (y) + 2] = (lane)(b2 ^ (~b3 & b4));                            \
        b[5 * (y) + 3] = (lane)(b3 ^ (~b4 & b0));                            \
        b[5 * (y) + 4] = (lane)(b4 ^ (~b0 & b1));                            \
    } while (0)

/* A round; pi is in the order of what is read: lane (x, y) is lane
 * (x + 3y, x). */
static void round_1(lane *b, const lane *a, lane constant)
{
    lane c0 = PARITY(0), c1 = PARITY(1), c2 = PARITY(2), c3 = PARITY(3);
    lane c4 = PARITY(4), b0, b1, b2, b3, b4, d[5];

    d[0] = c4 ^ ROL(c1, 1);
    d[1] = c0 ^ ROL(c2, 1);
    d[2] = c1 ^ ROL(c3, 1);
    d[3] = c2 ^ ROL(c4, 1);
    d[4] = c3 ^ ROL(c0, 1);

    b0 = RHO0(0, 0);
    b1 = RHO(1, 1, 4);
    b2 = RHO(2, 2, 3);
    b3 = RHO(3, 3, 5);
    b4 = RHO(4, 4, 6);
    CHI(0);
    b[0] ^= constant; /* iota */

    b0 = RHO(3, 0, 4);
    b1 = RHO(4, 1, 4);
    b2 = RHO(0, 2, 3);
    b3 = RHO(1, 3, 5);
    b4 = RHO(2, 4, 5);
    CHI(1);

    b0 = RHO(1, 0, 1);
    b1 = RHO(2, 1, 6);
    b2 = RHO(3, 2, 1);
    b3 = RHO0(4, 3);
    b4 = RHO(0, 4, 2);
    CHI(2);

    b0 = RHO(4, 0, 3);
    b1 = RHO(0, 1, 4);
    b2 = RHO(1, 2, 2);
    b3 = RHO(2, 3, 7);
    b4 = RHO0(3, 4);
    CHI(3);

    b0 = RHO(2, 0, 6);
    b1 = RHO(3, 1, 7);
    b2 = RHO(4, 2, 7);
    b3 = RHO(0, 3, 1);
    b4 = RHO(1, 4, 2);
    CHI(4);
}

void keccak200(keccak200_lane *a)
{
    /* RC: the LFSR of iota, bits 2^j - 1 of lane (0, 0) */
    static const uint8_t rc[18] = {
        0x01, 0x82, 0x8a, 0x00, 0x8b, 0x01, 0x81, 0x09, 0x8a,
        0x88, 0x09, 0x0a, 0x8b, 0x8b, 0x89, 0x03, 0x02, 0x80,
    };
    lane b[KECCAK200_LANES];
    uint8_t i;

    for (i = 0; i < 18; i += 2) {
        round_1(b, a, EVERY(rc[i]));
        round_1(a, b, EVERY(rc[i + 1]));
    }
}
