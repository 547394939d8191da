/* The Subterranean duplex object: section 2 of the specification. */
#include "subterranean.h"

#define W SUBTERRANEAN_W
#define N SUBTERRANEAN_WORDS
typedef subterranean_word word;

/* Bit i of the 257, i taken modulo 257. */
#define BIT(x, i) (((x)[(i) % 257 / W] >> ((i) % 257 % W)) & 1u)

/* The word of the bits i + n, 0 < n <= 8, from the word of i and the next. */
#define AHEAD(a, b, n) ((word)((a) >> (n) | (b) << (W - (n))))

/* chi on the word a; b is the next one */
static inline word chi(word a, word b)
{
    word a1 = AHEAD(a, b, 1), a2 = AHEAD(a1, b >> 1, 1);

    return (word)(a ^ (~a1 & a2));
}

/* theta on the word a; b is the next one */
static inline word theta(word a, word b)
{
#if W == 8
    return (word)(a ^ AHEAD(a, b, 3) ^ b);
#else
    return (word)(a ^ AHEAD(a, b, 3) ^ AHEAD(a, b, 8));
#endif
}

/*
 * pi: s_i <- t_12i.  PI puts 32 bits into place.
 */
#if defined(__AVR__)

/*
 * Bits 8b to 8b + 7 of the four quarters of s: as 12 * 64 = -3, what they take
 * from t is side by side.  bst and bld move a bit in two cycles.
 */
#define MOVE(to, j, i)                                                       \
    __asm__("bst %1, %2\n\tbld %0, %3"                                       \
            : "+r"(to)                                                       \
            : "r"(t[(i) % 257 / 8]), "I"((i) % 257 % 8), "I"(j))
#define PI_BITS(b, j)                                                        \
    do {                                                                     \
        MOVE(q0, j, 96 * (b) + 12 * (j) + 257);                              \
        MOVE(q1, j, 96 * (b) + 12 * (j) + 254);                              \
        MOVE(q2, j, 96 * (b) + 12 * (j) + 251);                              \
        MOVE(q3, j, 96 * (b) + 12 * (j) + 248);                              \
    } while (0)
#define PI(b)                                                                \
    do {                                                                     \
        word q0 = 0, q1 = 0, q2 = 0, q3 = 0;                                 \
                                                                             \
        PI_BITS(b, 0);                                                       \
        PI_BITS(b, 1);                                                       \
        PI_BITS(b, 2);                                                       \
        PI_BITS(b, 3);                                                       \
        PI_BITS(b, 4);                                                       \
        PI_BITS(b, 5);                                                       \
        PI_BITS(b, 6);                                                       \
        PI_BITS(b, 7);                                                       \
        x[b] = q0;                                                           \
        x[8 + (b)] = q1;                                                     \
        x[16 + (b)] = q2;                                                    \
        x[24 + (b)] = q3;                                                    \
        __asm__ volatile("" ::: "memory");  /* finish these bytes first */   \
    } while (0)

#else

#define PI_8(i)                                                              \
    (BIT(t, 12 * (i)) | BIT(t, 12 * (i) + 12) << 1 |                         \
     BIT(t, 12 * (i) + 24) << 2 | BIT(t, 12 * (i) + 36) << 3 |               \
     BIT(t, 12 * (i) + 48) << 4 | BIT(t, 12 * (i) + 60) << 5 |               \
     BIT(t, 12 * (i) + 72) << 6 | BIT(t, 12 * (i) + 84) << 7)
#if W == 8
#define PI(b)                                                                \
    do {                                                                     \
        x[4 * (b)] = (word)PI_8(32 * (b));                                   \
        x[4 * (b) + 1] = (word)PI_8(32 * (b) + 8);                           \
        x[4 * (b) + 2] = (word)PI_8(32 * (b) + 16);                          \
        x[4 * (b) + 3] = (word)PI_8(32 * (b) + 24);                          \
    } while (0)
#else
#define PI(b)                                                                \
    do {                                                                     \
        x[b] = PI_8(32 * (b)) | PI_8(32 * (b) + 8) << 8 |                    \
               PI_8(32 * (b) + 16) << 16 | PI_8(32 * (b) + 24) << 24;        \
        __asm__ volatile("" ::: "memory");  /* finish this word first */     \
    } while (0)
#endif

#endif

/* R = pi o theta o iota o chi (section 2.1) */
static void round_function(word *x)
{
    word t[N], c, next;
    uint8_t w;

    /* Let s_257, s_258, ... be s_0, s_1, ... */
    x[N - 1] = (word)((x[N - 1] & 1u) | x[0] << 1);
    x[N] = (word)(x[0] >> (W - 1) | x[1] << 1);

    /* chi, iota (s_257 is s_0), theta */
    c = chi(x[0], x[1]) ^ 1;
    for (w = 0; w < N; w++) {
        next = chi(x[w + 1], x[w + 2]);
        if (w == N - 2)
            next ^= 2;
        t[w] = theta(c, next);
        c = next;
    }

    /* pi */
    PI(0);
    PI(1);
    PI(2);
    PI(3);
    PI(4);
    PI(5);
    PI(6);
    PI(7);
    x[N - 1] = (word)BIT(t, 12 * 256);
}

/*
 * The positions 12^4j of sigma_j, and -12^4j that z_j has besides (Table 6),
 * for the eight bits of a byte each.
 */
#define BYTE_0(f, v)                                                         \
    f(v, 0, 1, 256) f(v, 1, 176, 81) f(v, 2, 136, 121) f(v, 3, 35, 222)      \
    f(v, 4, 249, 8) f(v, 5, 134, 123) f(v, 6, 197, 60) f(v, 7, 234, 23)
#define BYTE_1(f, v)                                                         \
    f(v, 0, 64, 193) f(v, 1, 213, 44) f(v, 2, 223, 34) f(v, 3, 184, 73)      \
    f(v, 4, 2, 255) f(v, 5, 95, 162) f(v, 6, 15, 242) f(v, 7, 70, 187)
#define BYTE_2(f, v)                                                         \
    f(v, 0, 241, 16) f(v, 1, 11, 246) f(v, 2, 137, 120) f(v, 3, 211, 46)     \
    f(v, 4, 128, 129) f(v, 5, 169, 88) f(v, 6, 189, 68) f(v, 7, 111, 146)
#define BYTE_3(f, v)                                                         \
    f(v, 0, 4, 253) f(v, 1, 190, 67) f(v, 2, 30, 227) f(v, 3, 140, 117)      \
    f(v, 4, 225, 32) f(v, 5, 22, 235) f(v, 6, 17, 240) f(v, 7, 165, 92)

#define INJECT(v, j, i, i_) x[(i) / W] ^= (word)(((v) >> (j)) & 1u) << (i) % W;
#define EXTRACT(v, j, i, i_) v |= (uint8_t)((BIT(x, i) ^ BIT(x, i_)) << (j));
#define PAD(i) (x[(i) / W] ^= (word)((word)1 << (i) % W))

void subterranean_duplex(subterranean *s, const uint8_t *sigma, uint8_t n)
{
    word *x = s->x;

    round_function(x);
    if (n == 0) {
        PAD(1);
        return;
    }
    BYTE_0(INJECT, sigma[0])
    if (n == 1) {
        PAD(64);
        return;
    }
    BYTE_1(INJECT, sigma[1])
    if (n == 2) {
        PAD(241);
        return;
    }
    BYTE_2(INJECT, sigma[2])
    if (n == 3) {
        PAD(4);
        return;
    }
    BYTE_3(INJECT, sigma[3])
    PAD(256);
}

void subterranean_extract(const subterranean *s, uint8_t *z)
{
    const word *x = s->x;
    uint8_t z0 = 0, z1 = 0, z2 = 0, z3 = 0;

    BYTE_0(EXTRACT, z0)
    BYTE_1(EXTRACT, z1)
    BYTE_2(EXTRACT, z2)
    BYTE_3(EXTRACT, z3)
    z[0] = z0;
    z[1] = z1;
    z[2] = z2;
    z[3] = z3;
}

void subterranean_blank(subterranean *s, uint8_t r)
{
    for (; r != 0; r--)
        subterranean_duplex(s, NULL, 0);
}

void subterranean_squeeze(subterranean *s, uint8_t *z, uint8_t n)
{
    for (; n != 0; n = (uint8_t)(n - 4)) {
        subterranean_extract(s, z);
        subterranean_duplex(s, NULL, 0);
        z += 4;
    }
}
