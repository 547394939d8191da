/*
 * Xoodoo[12], fast.
 */
#include "xoodoo.h"

#if defined(__AVR__)

/*
 * AVR: a round reads its state from one place in memory and writes it to
 * another, so that the plane shifts cost nothing.  Rotations by a multiple of
 * eight bits are register names; what is left are rotations by one and three
 * bits, done one bit at a time.
 */
#include <string.h>

/* Keeps the compiler from joining one-bit shifts to a loop. */
#define OPAQUE(x) __asm__("" : "+r"(x))

typedef struct {
    uint32_t a[12];
    uint32_t e[4];
} work;

static inline uint32_t rotl1(uint32_t x)
{
    uint8_t top = (uint8_t)((uint8_t)(x >> 24) >> 7);

    x <<= 1;
    OPAQUE(x);
    return x | top;
}

static inline uint32_t rotl3(uint32_t x)
{
    uint8_t top = (uint8_t)((uint8_t)(x >> 24) >> 5);

    x <<= 1;
    OPAQUE(x);
    x <<= 1;
    OPAQUE(x);
    x <<= 1;
    OPAQUE(x);
    return x | top;
}

static inline uint32_t rotr3(uint32_t x)
{
    uint8_t bottom = (uint8_t)((uint8_t)x << 5);

    x >>= 1;
    OPAQUE(x);
    x >>= 1;
    OPAQUE(x);
    x >>= 1;
    OPAQUE(x);
    return x | (uint32_t)bottom << 24;
}

static inline uint32_t rotl8(uint32_t x)
{
    return x << 8 | x >> 24;
}

/* theta: P and E for the column of lanes x */
#define THETA(x)                                                             \
    do {                                                                     \
        uint32_t p = in->a[x] ^ in->a[4 + (x)] ^ in->a[8 + (x)];             \
                                                                             \
        p ^= rotl8(rotl1(p));                                                \
        in->e[((x) + 1) & 3] = rotl8(rotr3(p)); /* P <<< 5 + P <<< 14 */     \
    } while (0)

/* addition of E, rho_west, iota, chi, rho_east */
#define CHI(x, c)                                                            \
    do {                                                                     \
        uint32_t a0 = in->a[x] ^ in->e[x] ^ (c);                             \
        uint32_t a1 = in->a[4 + (((x) + 3) & 3)] ^ in->e[((x) + 3) & 3];     \
        uint32_t a2 = rotl8(rotl3(in->a[8 + (x)] ^ in->e[x]));               \
                                                                             \
        out->a[x] = a0 ^ (~a1 & a2);                                         \
        out->a[4 + (x)] = rotl1(a1 ^ (~a2 & a0));                            \
        out->a[8 + (((x) + 2) & 3)] = rotl8(a2 ^ (~a0 & a1));                \
        __asm__ volatile("" ::: "memory"); /* finish this column first */    \
    } while (0)

static void __attribute__((noinline))
xoodoo_round(work *in, work *out, uint16_t c)
{
    THETA(0);
    THETA(1);
    THETA(2);
    THETA(3);
    CHI(0, c);
    CHI(1, 0);
    CHI(2, 0);
    CHI(3, 0);
}

void xoodoo(xoodoo_state *s)
{
    work u, v;

    memcpy(u.a, s->a, sizeof u.a);
    xoodoo_round(&u, &v, 0x058);
    xoodoo_round(&v, &u, 0x038);
    xoodoo_round(&u, &v, 0x3C0);
    xoodoo_round(&v, &u, 0x0D0);
    xoodoo_round(&u, &v, 0x120);
    xoodoo_round(&v, &u, 0x014);
    xoodoo_round(&u, &v, 0x060);
    xoodoo_round(&v, &u, 0x02C);
    xoodoo_round(&u, &v, 0x380);
    xoodoo_round(&v, &u, 0x0F0);
    xoodoo_round(&u, &v, 0x1A0);
    xoodoo_round(&v, &u, 0x012);
    memcpy(s->a, u.a, sizeof u.a);
}

#else

/*
 * The lanes stay in place: rho_west and rho_east move plane 1 by one lane and
 * plane 2 by two lanes a round, so that r rounds after the start lane (x, 1)
 * is found at place x - r and lane (x, 2) at place x - 2r, modulo 4.  Four
 * rounds with constant places bring every lane back to its own.
 */
#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

/* theta: P and E of the lanes p0, p1, p2 of one column */
#define THETA(e, p0, p1, p2)                                                 \
    do {                                                                     \
        e = p0 ^ p1 ^ p2;                                                    \
        e = ROTL(e, 5) ^ ROTL(e, 14);                                        \
    } while (0)

/* addition of E, rho_west, chi, rho_east; lane l1 is of the column before */
#define CHI(l0, l1, l2, e, e_before)                                         \
    do {                                                                     \
        uint32_t b0 = l0 ^ e;                                                \
        uint32_t b1 = l1 ^ e_before;                                         \
        uint32_t b2 = l2 ^ e;                                                \
                                                                             \
        b2 = ROTL(b2, 11);                                                   \
        l0 = b0 ^ (b2 & ~b1);                                                \
        l1 = b1 ^ (b0 & ~b2);                                                \
        l1 = ROTL(l1, 1);                                                    \
        l2 = b2 ^ (b1 & ~b0);                                                \
        l2 = ROTL(l2, 8);                                                    \
    } while (0)

/* One round; p0 .. p3 are the places of lanes 0 .. 3 of plane 1, and q0 .. q3
 * of plane 2.  iota comes before theta is completed: both are additions. */
#define ROUND(c, p0, p1, p2, p3, q0, q1, q2, q3)                             \
    do {                                                                     \
        uint32_t e0, e1, e2, e3;                                             \
                                                                             \
        THETA(e1, a0_0, p0, q0);                                             \
        THETA(e2, a0_1, p1, q1);                                             \
        THETA(e3, a0_2, p2, q2);                                             \
        THETA(e0, a0_3, p3, q3);                                             \
        a0_0 ^= (c);                                                         \
        CHI(a0_0, p3, q0, e0, e3);                                           \
        CHI(a0_1, p0, q1, e1, e0);                                           \
        CHI(a0_2, p1, q2, e2, e1);                                           \
        CHI(a0_3, p2, q3, e3, e2);                                           \
    } while (0)

#define ROUND_0(c)                                                           \
    ROUND(c, a1_0, a1_1, a1_2, a1_3, a2_0, a2_1, a2_2, a2_3)
#define ROUND_1(c)                                                           \
    ROUND(c, a1_3, a1_0, a1_1, a1_2, a2_2, a2_3, a2_0, a2_1)
#define ROUND_2(c)                                                           \
    ROUND(c, a1_2, a1_3, a1_0, a1_1, a2_0, a2_1, a2_2, a2_3)
#define ROUND_3(c)                                                           \
    ROUND(c, a1_1, a1_2, a1_3, a1_0, a2_2, a2_3, a2_0, a2_1)

void xoodoo(xoodoo_state *s)
{
    /* Table 2 */
    static const uint16_t constants[12] = {
        0x058, 0x038, 0x3C0, 0x0D0, 0x120, 0x014,
        0x060, 0x02C, 0x380, 0x0F0, 0x1A0, 0x012,
    };
    uint32_t a0_0 = s->a[0], a0_1 = s->a[1], a0_2 = s->a[2];
    uint32_t a0_3 = s->a[3], a1_0 = s->a[4], a1_1 = s->a[5];
    uint32_t a1_2 = s->a[6], a1_3 = s->a[7], a2_0 = s->a[8];
    uint32_t a2_1 = s->a[9], a2_2 = s->a[10], a2_3 = s->a[11];
    const uint16_t *c;

    for (c = constants; c != constants + 12; c += 4) {
        ROUND_0(c[0]);
        ROUND_1(c[1]);
        ROUND_2(c[2]);
        ROUND_3(c[3]);
    }

    s->a[0] = a0_0;
    s->a[1] = a0_1;
    s->a[2] = a0_2;
    s->a[3] = a0_3;
    s->a[4] = a1_0;
    s->a[5] = a1_1;
    s->a[6] = a1_2;
    s->a[7] = a1_3;
    s->a[8] = a2_0;
    s->a[9] = a2_1;
    s->a[10] = a2_2;
    s->a[11] = a2_3;
}

#endif
