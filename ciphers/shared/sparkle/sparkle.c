/* SPARKLE: section 2.1 of the specification. */
#include "sparkle.h"

#include <string.h>

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))

#if defined(__AVR__)
/* Rotations by whole bytes, then by one bit; never joined to a loop. */
static inline uint32_t rotr16(uint32_t x)
{
    x = ROTR(x, 16);
    __asm__("" : "+r"(x));
    return x;
}
#define ROTR17(x) ROTR(rotr16(x), 1)
#else
#define ROTR17(x) ROTR(x, 17)
#endif

/* Algorithms 2.1 to 2.3; A_ci takes c_i in branch i */
static const uint32_t constants[8] = {
    0xB7E15162, 0xBF715880, 0x38B4DA56, 0x324E7738,
    0xBB1185EB, 0x4F7C7B57, 0xCFBFA1C8, 0xC2B3293D,
};

/* Alzette, A_c (Algorithm 2.4), on one branch */
static inline void alzette(uint32_t *branch, uint32_t c)
{
    uint32_t x = branch[0], y = branch[1];

    x += ROTR(y, 31);
    y ^= ROTR(x, 24);
    x ^= c;
    x += ROTR17(y);
    y ^= ROTR17(x);
    x ^= c;
    x += y;
    y ^= ROTR(x, 31);
    x ^= c;
    x += ROTR(y, 24);
    y ^= ROTR(x, 16);
    x ^= c;

    branch[0] = x;
    branch[1] = y;
}

/*
 * The diffusion layer L_nb (Algorithms 2.5 to 2.7): the Feistel round and the
 * branch permutation, joined to one pass as in Algorithm 5.1.
 */
static inline void diffuse(uint32_t *left)
{
    uint32_t *right = left + SPARKLE_BRANCHES;
    uint32_t tx = 0, ty = 0, x, y;
    uint8_t i;

    for (i = 0; i < SPARKLE_BRANCHES; i = (uint8_t)(i + 2)) {
        tx ^= left[i];
        ty ^= left[i + 1];
    }
    tx = SPARKLE_ELL(tx);
    ty = SPARKLE_ELL(ty);

    x = right[0] ^ left[0] ^ ty;
    y = right[1] ^ left[1] ^ tx;
    right[0] = left[0];
    right[1] = left[1];
    for (i = 2; i < SPARKLE_BRANCHES; i = (uint8_t)(i + 2)) {
        left[i - 2] = right[i] ^ left[i] ^ ty;
        left[i - 1] = right[i + 1] ^ left[i + 1] ^ tx;
        right[i] = left[i];
        right[i + 1] = left[i + 1];
    }
    left[SPARKLE_BRANCHES - 2] = x;
    left[SPARKLE_BRANCHES - 1] = y;
}

void sparkle(sparkle_state *s, uint8_t steps)
{
    uint8_t step, i;

    for (step = 0; step < steps; step++) {
        s->w[1] ^= constants[step & 7];
        s->w[3] ^= step;
        for (i = 0; i < SPARKLE_BRANCHES; i++)
            alzette(&s->w[2 * i], constants[i]);
        diffuse(s->w);
    }
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

void sparkle_load(uint32_t *w, const unsigned char *p, uint8_t n)
{
    memcpy(w, p, n);
}

void sparkle_store(unsigned char *p, const uint32_t *w, uint8_t n)
{
    memcpy(p, w, n);
}

#else

void sparkle_load(uint32_t *w, const unsigned char *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        SPARKLE_BYTE(w, i) = p[i];
}

void sparkle_store(unsigned char *p, const uint32_t *w, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        p[i] = SPARKLE_BYTE(w, i);
}

#endif
