/*
 * Keccak-p[400, n_r]: FIPS 202, section 3; for cores with 32-bit registers and
 * few of them.  A round goes from one array to another, plane by plane: five
 * lanes are fetched from where pi takes them, and all steps but the sums of
 * theta are done before they are stored.
 */
#include "keccakp400.h"

typedef keccakp400_lane lane;

#define BITS (8 * sizeof(lane))
#define ROTL(x, n)                                                           \
    ((lane)((x) << (n) | (x) >> ((BITS - (n)) & (BITS - 1))))

/* RC[i_r] of iota, 3.2.5: its first 16 bits.  Keccak-p[400] has 20 of them. */
static const uint16_t constants[20] = {
    0x0001, 0x8082, 0x808A, 0x8000, 0x808B, 0x0001, 0x8081, 0x8009,
    0x008A, 0x0088, 0x8009, 0x000A, 0x808B, 0x008B, 0x8089, 0x8003,
    0x8002, 0x0080, 0x800A, 0x000A,
};

/* theta, 3.2.1: the sum of a column */
#define COLUMN(x)                                                            \
    (a[x] ^ a[5 + (x)] ^ a[10 + (x)] ^ a[15 + (x)] ^ a[20 + (x)])

/* rho, 3.2.2, on lane (x, y), where theta adds d; n is the offset mod 16. */
#define LANE(x, y, d, n) ROTL(a[5 * (y) + (x)] ^ (d), n)

/*
 * Five lanes fetched before any is used.  Thumb-2 has shorter instructions for
 * r0 to r7; where a lane has 16 bits there is nothing to gain.
 */
#if defined(__thumb__)
#define FETCHED(a, b, c, d, e)                                               \
    __asm__("" : "+l"(a), "+l"(b), "+l"(c), "+l"(d), "+l"(e))
#elif UINTPTR_MAX > 0xFFFF
#define FETCHED(a, b, c, d, e)                                               \
    __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e))
#else
#define FETCHED(a, b, c, d, e) ((void)0)
#endif

/*
 * chi, 3.2.4, and iota of plane y.  The lanes come from planes 0 to 4 (pi,
 * 3.2.3), the first one from column x; di are the columns' D of theta.
 */
#define PLANE(y, rc, x, d0, n0, d1, n1, d2, n2, d3, n3, d4, n4)              \
    do {                                                                     \
        lane b0 = LANE((x), 0, d0, n0);                                      \
        lane b1 = LANE(((x) + 1) % 5, 1, d1, n1);                            \
        lane b2 = LANE(((x) + 2) % 5, 2, d2, n2);                            \
        lane b3 = LANE(((x) + 3) % 5, 3, d3, n3);                            \
        lane b4 = LANE(((x) + 4) % 5, 4, d4, n4);                            \
                                                                             \
        FETCHED(b0, b1, b2, b3, b4);                                         \
        to[5 * (y)] = b0 ^ (~b1 & b2) ^ (rc);                                \
        to[5 * (y) + 1] = b1 ^ (~b2 & b3);                                   \
        to[5 * (y) + 2] = b2 ^ (~b3 & b4);                                   \
        to[5 * (y) + 3] = b3 ^ (~b4 & b0);                                   \
        to[5 * (y) + 4] = b4 ^ (~b0 & b1);                                   \
        __asm__ volatile("" : : : "memory");                                 \
    } while (0)

static void round400(lane *to, const lane *a, lane rc)
{
    lane c0 = COLUMN(0), c1 = COLUMN(1), c2 = COLUMN(2), c3 = COLUMN(3);
    lane c4 = COLUMN(4);
    lane d0 = c4 ^ ROTL(c1, 1), d1 = c0 ^ ROTL(c2, 1);
    lane d2 = c1 ^ ROTL(c3, 1), d3 = c2 ^ ROTL(c4, 1);
    lane d4 = c3 ^ ROTL(c0, 1);

    PLANE(0, KECCAKP400_LANE(rc), 0, d0, 0, d1, 12, d2, 11, d3, 5, d4, 14);
    PLANE(1, 0, 3, d3, 12, d4, 4, d0, 3, d1, 13, d2, 13);
    PLANE(2, 0, 1, d1, 1, d2, 6, d3, 9, d4, 8, d0, 2);
    PLANE(3, 0, 4, d4, 11, d0, 4, d1, 10, d2, 15, d3, 8);
    PLANE(4, 0, 2, d2, 14, d3, 7, d4, 7, d0, 9, d1, 2);
}

/* ISAP has single rounds; memcpy of some libraries goes byte by byte. */
static void copy(lane *to, const lane *a)
{
    uint8_t y;

    for (y = 0; y < 25; y = (uint8_t)(y + 5)) {
        lane a0 = a[y], a1 = a[y + 1], a2 = a[y + 2], a3 = a[y + 3];

        to[y + 4] = a[y + 4];
        to[y] = a0;
        to[y + 1] = a1;
        to[y + 2] = a2;
        to[y + 3] = a3;
        __asm__ volatile("" : : : "memory");
    }
}

void keccakp400(keccakp400_state *s, uint8_t rounds)
{
    const uint16_t *rc = constants + 20 - rounds;
    lane t[25];

    if (rounds % 2 != 0) {
        copy(t, s->a);
        round400(s->a, t, *rc++);
    }
    for (; rc != constants + 20; rc += 2) {
        round400(t, s->a, rc[0]);
        round400(s->a, t, rc[1]);
    }
}
