/*
 * DrySponge with GASCON, Mix128 and KSneq32: sections 3 and 6 to 9 of the
 * DryGASCON specification.
 */
#include "drysponge.h"

#include <string.h>

#define CWORDS DRYGASCON_CWORDS
#define MID ((CWORDS - 1) / 2)

/* x rotated right by n, a constant below 32 */
#if defined(__AVR__)

/* By whole bytes, then by single bits, never joined to a loop. */
#define OPAQUE(x) __asm__("" : "+r"(x))

static inline __attribute__((always_inline)) uint32_t ror(uint32_t x,
                                                          uint8_t n)
{
    switch ((n + 4) / 8) {
    case 1:
        x = x >> 8 | x << 24;
        break;
    case 2:
        x = x >> 16 | x << 16;
        break;
    case 3:
        x = x >> 24 | x << 8;
        break;
    }
    OPAQUE(x);
    switch (n & 7) {
    case 3:
        x = x >> 1 | x << 31;
        OPAQUE(x);              /* fall through */
    case 2:
        x = x >> 1 | x << 31;
        OPAQUE(x);              /* fall through */
    case 1:
        x = x >> 1 | x << 31;
        OPAQUE(x);
        break;
    case 4:
        x = x << 1 | x >> 31;
        OPAQUE(x);              /* fall through */
    case 5:
        x = x << 1 | x >> 31;
        OPAQUE(x);              /* fall through */
    case 6:
        x = x << 1 | x >> 31;
        OPAQUE(x);              /* fall through */
    case 7:
        x = x << 1 | x >> 31;
        OPAQUE(x);
        break;
    }
    return x;
}

#else
#define ror(x, n) ((x) >> (n) | (x) << ((32 - (n)) & 31))
#endif

/* BiRotR, Algorithm 14: the even and the odd bits of a word turned by n */
#define ROTR_EVEN(e, o, n) ((n) & 1 ? ror(o, (n) / 2) : ror(e, (n) / 2))
#define ROTR_ODD(e, o, n) \
    ((n) & 1 ? ror(e, ((n) / 2 + 1) % 32) : ror(o, (n) / 2))

/* Algorithm 13, word j */
#define LINEAR(j, n, m)                                                      \
    do {                                                                     \
        uint32_t e = c[2 * (j)], o = c[2 * (j) + 1];                         \
                                                                             \
        c[2 * (j)] = e ^ ROTR_EVEN(e, o, n) ^ ROTR_EVEN(e, o, m);            \
        c[2 * (j) + 1] = o ^ ROTR_ODD(e, o, n) ^ ROTR_ODD(e, o, m);          \
    } while (0)

/* sbox, Algorithm 12, on the even or the odd bits of all words */
static inline void sbox(uint32_t *c)
{
    uint32_t x[CWORDS], first, second;
    uint8_t i;

    for (i = 0; i < CWORDS; i++)
        x[i] = c[2 * i];
    x[0] ^= x[CWORDS - 1];
    for (i = 2; i < CWORDS; i = (uint8_t)(i + 2))
        x[i] ^= x[i - 1];

    first = x[0];
    second = x[1];
    for (i = 0; i < CWORDS - 2; i++)
        x[i] ^= ~x[i + 1] & x[i + 2];
    x[CWORDS - 2] ^= ~x[CWORDS - 1] & first;
    x[CWORDS - 1] ^= ~first & second;

    for (i = 1; i < CWORDS; i = (uint8_t)(i + 2))
        x[i] ^= x[i - 1];
    x[0] ^= x[CWORDS - 1];
    x[MID] = ~x[MID];
    for (i = 0; i < CWORDS; i++)
        c[2 * i] = x[i];
}

/* The two layers of GASCON: one copy is enough. */
static __attribute__((noinline)) void layers(uint32_t *c)
{
    sbox(c);
    sbox(c + 1);
    LINEAR(0, 19, 28);
    LINEAR(1, 61, 38);
    LINEAR(2, 1, 6);
    LINEAR(3, 10, 17);
    LINEAR(4, 7, 40);
#if CWORDS == 9
    LINEAR(5, 31, 26);
    LINEAR(6, 53, 58);
    LINEAR(7, 9, 46);
    LINEAR(8, 43, 50);
#endif
}

/* GASCON, Algorithm 11 */
static inline void gascon(uint32_t *c, uint8_t round)
{
    c[2 * MID] ^= (uint8_t)((0xf - round) << 4 | round);
    layers(c);
}

/* d = i || DS is read in pieces of idx.width = 2 bits. */
#define PIECES (((132 + 2 * CWORDS - 1) / (2 * CWORDS)) * CWORDS)
#define D_BYTES ((PIECES + 3) / 4)

/*
 * Mix128, Algorithms 15 and 16.  x[idx] is selected by masks: the index is
 * part of the data, which may be secret.
 */
static void mix128(drysponge *s, const uint8_t *d)
{
    uint32_t x0 = s->x[0];
    uint32_t x01 = x0 ^ s->x[1], x02 = x0 ^ s->x[2];
    uint32_t x0123 = x01 ^ s->x[2] ^ s->x[3];
    uint8_t n = 0, bits = 0, j;

    for (;;) {
        for (j = 0; j < CWORDS; j++) {
            uint32_t m0, m1;

            if (n % 4 == 0)
                bits = *d++;
            m0 = (uint32_t)0 - (bits & 1u);
            m1 = (uint32_t)0 - (bits >> 1 & 1u);
            s->c[2 * j] ^= x0 ^ (x01 & m0) ^ (x02 & m1) ^ (x0123 & m0 & m1);
            bits >>= 2;
            n++;
        }
        if (n == PIECES)
            return;
        gascon(s->c, 0);
    }
}

void drysponge_g(drysponge *s, uint8_t rounds)
{
    uint8_t j, i, k;

    memset(s->r, 0, sizeof s->r);
    for (j = 0; j < rounds; j++) {
        gascon(s->c, j);
        /* Accumulate, Algorithm 3 */
        for (k = 0; k < DRYGASCON_ACCUMULATE; k++)
            for (i = 0; i < 4; i++)
                s->r[i] ^= s->c[4 * k + (i + k) % 4];
    }
}

void drysponge_f(drysponge *s, const uint8_t *i, uint8_t n, uint8_t domain,
                 uint8_t finalize, uint8_t rounds)
{
    uint8_t d[D_BYTES] = { 0 };

    if (n != 0)
        memcpy(d, i, n);
    if (n != DRYGASCON_BLOCK)
        d[n] = 1;
    d[DRYGASCON_BLOCK] = (uint8_t)((n != DRYGASCON_BLOCK) | finalize << 1 |
                                   domain << 2);
    mix128(s, d);
    drysponge_g(s, rounds);
}

/* Words from a string */
static void load(uint32_t *w, const uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        DRYSPONGE_BYTE(w, i) = p[i];
}

/*
 * The width decides on the profile.  The words of x are to differ: the small
 * profile sees to that, in the others it is up to the key.  (Its loop ends
 * after one turn but for one of some 2^29 keys.)
 */
void drysponge_key(drysponge *s, const uint8_t *k, uint8_t width)
{
    uint32_t *x = s->x;
    uint8_t i;

    memset(s->r, 0, sizeof s->r);
    if (width == DRYGASCON_FULL) {
        load(s->c, k, sizeof s->c);
        load(x, k + sizeof s->c, sizeof s->x);
        return;
    }
    for (i = 0; i < sizeof s->c; i++)
        DRYSPONGE_BYTE(s->c, i) = k[i % DRYGASCON_SMALL];
    if (width == DRYGASCON_FAST) {
        load(x, k + DRYGASCON_SMALL, sizeof s->x);
        return;
    }
    do {
        gascon(s->c, 0);
        memcpy(x, s->c, sizeof s->x);
    } while (x[0] == x[1] || x[0] == x[2] || x[0] == x[3] || x[1] == x[2] ||
             x[1] == x[3] || x[2] == x[3]);
    load(s->c, k, sizeof s->x);
}
