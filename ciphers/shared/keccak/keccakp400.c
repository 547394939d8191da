/* Keccak-p[400, n_r]: FIPS 202, section 3. */
#include "keccakp400.h"

typedef keccakp400_lane lane;

#if UINT_MAX > 0xffff

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

#else

#define ROTL1(x) ((uint16_t)((x) << 1 | (x) >> 15))
#define ROTR1(x) ((uint16_t)((x) >> 1 | (uint16_t)((x) << 15)))
#define ROTL8(x) ((uint16_t)((x) << 8 | (x) >> 8))
#define OPAQUE(x) __asm__("" : "+r"(x))     /* no loop of single shifts */

/* x rotated left by n, a constant: by whole bytes, then by single bits */
static inline __attribute__((always_inline)) uint16_t rotl(uint16_t x,
                                                           uint8_t n)
{
    if (n > 4 && n <= 12)
        x = ROTL8(x);
    switch (n & 7) {
    case 4:
        x = ROTL1(x);
        OPAQUE(x);              /* fall through */
    case 3:
        x = ROTL1(x);
        OPAQUE(x);              /* fall through */
    case 2:
        x = ROTL1(x);
        OPAQUE(x);              /* fall through */
    case 1:
        x = ROTL1(x);
        break;
    case 5:
        x = ROTR1(x);
        OPAQUE(x);              /* fall through */
    case 6:
        x = ROTR1(x);
        OPAQUE(x);              /* fall through */
    case 7:
        x = ROTR1(x);
        break;
    }
    return x;
}
#define ROTL(x, n) rotl(x, n)

#endif

/*
 * RC[i_r] of iota, 3.2.5: its first 16 bits.  Keccak-p[400] has 20 of them.
 */
static const uint16_t constants[20] = {
    0x0001, 0x8082, 0x808A, 0x8000, 0x808B, 0x0001, 0x8081, 0x8009,
    0x008A, 0x0088, 0x8009, 0x000A, 0x808B, 0x008B, 0x8089, 0x8003,
    0x8002, 0x0080, 0x800A, 0x000A,
};

/* theta, 3.2.1: D[x], from the sums of the columns x - 1 and x + 1 */
#define COLUMN(x) (a[x] ^ a[5 + (x)] ^ a[10 + (x)] ^ a[15 + (x)] ^ a[20 + (x)])
#define THETA(x, before, after)                                              \
    do {                                                                     \
        lane d = (lane)(before ^ ROTL(after, 1));                            \
                                                                             \
        a[x] ^= d;                                                           \
        a[5 + (x)] ^= d;                                                     \
        a[10 + (x)] ^= d;                                                    \
        a[15 + (x)] ^= d;                                                    \
        a[20 + (x)] ^= d;                                                    \
    } while (0)

/*
 * rho and pi, 3.2.2 and 3.2.3: step t of Algorithm 2 turns a lane by
 * (t + 1)(t + 2)/2 and pi puts it where the lane of step t + 1 has been.
 */
#define RHO_PI(t, to)                                                        \
    do {                                                                     \
        lane next = a[to];                                                   \
                                                                             \
        a[to] = (lane)ROTL(moved, ((t) + 1) * ((t) + 2) / 2 % 16);           \
        moved = next;                                                        \
    } while (0)

void keccakp400(keccakp400_state *s, uint8_t rounds)
{
    lane *a = s->a;
    uint8_t ir, y;

    for (ir = (uint8_t)(20 - rounds); ir < 20; ir++) {
        lane c0 = COLUMN(0), c1 = COLUMN(1), c2 = COLUMN(2), c3 = COLUMN(3);
        lane c4 = COLUMN(4), moved;

        THETA(0, c4, c1);
        THETA(1, c0, c2);
        THETA(2, c1, c3);
        THETA(3, c2, c4);
        THETA(4, c3, c0);

        moved = a[1];
        RHO_PI(0, 10);
        RHO_PI(1, 7);
        RHO_PI(2, 11);
        RHO_PI(3, 17);
        RHO_PI(4, 18);
        RHO_PI(5, 3);
        RHO_PI(6, 5);
        RHO_PI(7, 16);
        RHO_PI(8, 8);
        RHO_PI(9, 21);
        RHO_PI(10, 24);
        RHO_PI(11, 4);
        RHO_PI(12, 15);
        RHO_PI(13, 23);
        RHO_PI(14, 19);
        RHO_PI(15, 13);
        RHO_PI(16, 12);
        RHO_PI(17, 2);
        RHO_PI(18, 20);
        RHO_PI(19, 14);
        RHO_PI(20, 22);
        RHO_PI(21, 9);
        RHO_PI(22, 6);
        RHO_PI(23, 1);

        /* chi, 3.2.4 */
        for (y = 0; y < 25; y = (uint8_t)(y + 5)) {
            lane a0 = a[y], a1 = a[y + 1], a2 = a[y + 2], a3 = a[y + 3];
            lane a4 = a[y + 4];

            a[y] = (lane)(a0 ^ (~a1 & a2));
            a[y + 1] = (lane)(a1 ^ (~a2 & a3));
            a[y + 2] = (lane)(a2 ^ (~a3 & a4));
            a[y + 3] = (lane)(a3 ^ (~a4 & a0));
            a[y + 4] = (lane)(a4 ^ (~a0 & a1));
        }

        /* iota, 3.2.5 */
        a[0] ^= KECCAKP400_LANE(constants[ir]);
    }
}
