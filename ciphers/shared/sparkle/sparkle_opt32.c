/*
 * SPARKLE: section 2.1 of the specification; for cores with 32-bit registers
 * and few of them, where it is best to have one branch in registers at a time.
 */
#include "sparkle.h"

#include <string.h>

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))

/* Algorithms 2.1 to 2.3; A_ci takes c_i in branch i */
static const uint32_t constants[8] = {
    0xB7E15162, 0xBF715880, 0x38B4DA56, 0x324E7738,
    0xBB1185EB, 0x4F7C7B57, 0xCFBFA1C8, 0xC2B3293D,
};

/*
 * Alzette, A_c (Algorithm 2.4), on branch i.  A compiler that knows c would
 * make up to four instructions of each x ^= c, and one that mixes the branches
 * would run out of registers.
 */
#define ALZETTE(i, x, y)                                                     \
    do {                                                                     \
        uint32_t c = constants[i];                                           \
                                                                             \
        __asm__ volatile("" : "+r"(c), "+r"(x), "+r"(y));                    \
        x += ROTR(y, 31);                                                    \
        y ^= ROTR(x, 24);                                                    \
        x ^= c;                                                              \
        x += ROTR(y, 17);                                                    \
        y ^= ROTR(x, 17);                                                    \
        x ^= c;                                                              \
        x += y;                                                              \
        y ^= ROTR(x, 31);                                                    \
        x ^= c;                                                              \
        x += ROTR(y, 24);                                                    \
        y ^= ROTR(x, 16);                                                    \
        x ^= c;                                                              \
        __asm__ volatile("" : "+r"(x), "+r"(y));                             \
    } while (0)

#define HALF (SPARKLE_BRANCHES / 2)

/* A branch of the left half: Alzette, and its part of t_x and t_y */
#define LEFT(i)                                                              \
    do {                                                                     \
        uint32_t x = w[2 * (i)], y = w[2 * (i) + 1];                         \
                                                                             \
        ALZETTE(i, x, y);                                                    \
        w[2 * (i)] = x;                                                      \
        w[2 * (i) + 1] = y;                                                  \
        tx ^= x;                                                             \
        ty ^= y;                                                             \
    } while (0)

/*
 * Branch HALF + i: Alzette, the Feistel round with branch i, and to its place,
 * to, in the left half; branch i goes to the right (Algorithms 2.5 to 2.7).
 */
#define RIGHT(i, to_x, to_y)                                                 \
    do {                                                                     \
        uint32_t x = w[2 * (HALF + (i))], y = w[2 * (HALF + (i)) + 1];       \
        uint32_t left_x = w[2 * (i)], left_y = w[2 * (i) + 1];               \
                                                                             \
        ALZETTE(HALF + (i), x, y);                                           \
        w[2 * (HALF + (i))] = left_x;                                        \
        w[2 * (HALF + (i)) + 1] = left_y;                                    \
        to_x = x ^ left_x ^ ty;                                              \
        to_y = y ^ left_y ^ tx;                                              \
    } while (0)

void sparkle(sparkle_state *s, uint8_t steps)
{
    uint32_t *w = s->w;
    uint32_t step;

    for (step = 0; step < steps; step++) {
        uint32_t tx = 0, ty = 0, x0, y0;

        w[1] ^= constants[step & 7];
        w[3] ^= step;
        LEFT(0);
        LEFT(1);
#if HALF > 2
        LEFT(2);
#endif
#if HALF > 3
        LEFT(3);
#endif
        tx = SPARKLE_ELL(tx);
        ty = SPARKLE_ELL(ty);

        RIGHT(0, x0, y0);
        RIGHT(1, w[0], w[1]);
#if HALF > 2
        RIGHT(2, w[2], w[3]);
#endif
#if HALF > 3
        RIGHT(3, w[4], w[5]);
#endif
        w[2 * HALF - 2] = x0;
        w[2 * HALF - 1] = y0;
    }
}

void sparkle_load(uint32_t *w, const unsigned char *p, uint8_t n)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(w, p, n);
#else
    while (n-- != 0)
        SPARKLE_BYTE(w, n) = p[n];
#endif
}

void sparkle_store(unsigned char *p, const uint32_t *w, uint8_t n)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(p, w, n);
#else
    while (n-- != 0)
        p[n] = SPARKLE_BYTE(w, n);
#endif
}
