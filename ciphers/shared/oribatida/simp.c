/* SimP: Algorithm 2 of the Oribatida specification. */
#include <limits.h>

#include "simp.h"

#define WORDBYTES (SIMP_N / 4)
#if WORDBYTES == 6
#define ROUNDS 26 /* r_s */
#else
#define ROUNDS 34
#endif

/* z, bit 0 first; c has all bits but the lowest two. */
static const uint8_t constants[8] = {
    0xaf, 0x70, 0x34, 0x98, 0xa1, 0x1f, 0x96, 0xcc,
};

/*
 * One round, with the words' names instead of the words exchanged: the old
 * X1 is the round key, then the new X0, and X3 is the new X2.
 */
#if UINT_MAX > 0xffff

typedef uint64_t word;

#if WORDBYTES == 6
#define MASK ((uint64_t)0xffffffffffff)
#define ROTL(x, n) (((x) << (n) | (x) >> (48 - (n))) & MASK)
#else
#define MASK (~(uint64_t)0)
#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))
#endif
#define ROTR(x, n) ROTL(x, 8 * WORDBYTES - (n))

static inline void round_(word *x0, word *x1, word *x2, word *x3, uint8_t z)
{
    word f = (ROTL(*x2, 1) & ROTL(*x2, 8)) ^ ROTL(*x2, 2);
    word g = ROTR(*x0, 3) ^ ROTR(*x0, 4);

    *x3 ^= f ^ *x1;
    *x1 ^= g ^ (MASK - 3) ^ z;
}

static void load(word *x, const uint8_t *p)
{
    uint8_t i;

    *x = 0;
    for (i = 0; i < WORDBYTES; i++)
        *x = *x << 8 | p[i];
}

static void store(uint8_t *p, const word *x)
{
    uint8_t i;

    for (i = 0; i < WORDBYTES; i++)
        p[i] = (uint8_t)(*x >> 8 * (WORDBYTES - 1 - i));
}

#else

/* Limbs of 16 bits, the highest first */
#define LIMBS (WORDBYTES / 2)
#define NEXT(i) ((i) == LIMBS - 1 ? 0 : (i) + 1)

typedef struct {
    uint16_t l[LIMBS];
} word;

/* Limb i of x <<< n; the limbs from left to right follow each other. */
#define ROTL(x, i, n)                                                        \
    ((uint16_t)((x)->l[i] << (n) | (x)->l[NEXT(i)] >> (16 - (n))))

static inline void round_(word *x0, word *x1, word *x2, word *x3, uint8_t z)
{
    word y;
    uint8_t i;

    for (i = 0; i < LIMBS; i++)
        x3->l[i] ^= (ROTL(x2, i, 1) & ROTL(x2, i, 8)) ^ ROTL(x2, i, 2) ^
                    x1->l[i];
    /* g(X0) = (X0 + (X0 <<< 1)) >>> 4 */
    for (i = 0; i < LIMBS; i++)
        y.l[i] = x0->l[i] ^ ROTL(x0, i, 1);
    for (i = 0; i < LIMBS; i++)
        x1->l[NEXT(i)] ^= (uint16_t)~ROTL(&y, i, 12);
    x1->l[LIMBS - 1] ^= z ^ 3;
}

static void load(word *x, const uint8_t *p)
{
    uint8_t i;

    for (i = 0; i < LIMBS; i++)
        x->l[i] = (uint16_t)(p[2 * i] << 8 | p[2 * i + 1]);
}

static void store(uint8_t *p, const word *x)
{
    uint8_t i;

    for (i = 0; i < LIMBS; i++) {
        p[2 * i] = (uint8_t)(x->l[i] >> 8);
        p[2 * i + 1] = (uint8_t)x->l[i];
    }
}

#endif

void simp(uint8_t *x, uint8_t theta)
{
    word x0, x1, x2, x3, t;
    uint8_t l = 0, z = 0, i;

    load(&x0, x);
    load(&x1, x + WORDBYTES);
    load(&x2, x + 2 * WORDBYTES);
    load(&x3, x + 3 * WORDBYTES);
    for (;;) {
        for (i = 0; i < ROUNDS; i += 2) {
            if ((l & 7) == 0)
                z = constants[l >> 3];
            round_(&x0, &x1, &x2, &x3, z >> 7);
            round_(&x1, &x0, &x3, &x2, z >> 6 & 1);
            z = (uint8_t)(z << 2);
            l = (uint8_t)(l == 60 ? 0 : l + 2); /* modulo 62 */
        }
        if (--theta == 0)
            break;
        t = x0;
        x0 = x2;
        x2 = t;
        t = x1;
        x1 = x3;
        x3 = t;
    }
    store(x, &x0);
    store(x + WORDBYTES, &x1);
    store(x + 2 * WORDBYTES, &x2);
    store(x + 3 * WORDBYTES, &x3);
}
