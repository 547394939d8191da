/* Words: a 64-bit word as two 32-bit numbers. */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

typedef struct {
    uint32_t x[5][2];
} ascon_state;

/* S-box (SP 800-232, 3.3) on 32 bits of each of the five words. */
#define ASCON_SBOX(x0, x1, x2, x3, x4) do { \
    uint32_t t0_, t4_; \
    x0 ^= x4; x4 ^= x3; x2 ^= x1; \
    t0_ = ~x0 & x1; \
    t4_ = ~x4 & x0; \
    x0 ^= ~x1 & x2; \
    x1 ^= ~x2 & x3; \
    x2 ^= ~x3 & x4; \
    x3 ^= t4_; \
    x4 ^= t0_; \
    x1 ^= x0; x0 ^= x4; x3 ^= x2; x2 = ~x2; \
} while (0)

/*
 * Linear diffusion (3.4) of one word with lower half l and upper half h:
 * x ^ (x >>> a) ^ (x >>> b).  A rotation by n >= 32 is one by n - 32 with the
 * halves swapped.
 */
#define ASCON_ROTR(u, v, n) \
    ((n) < 32 ? ((u) >> ((n) & 31)) ^ ((v) << ((32 - (n)) & 31)) \
              : ((v) >> ((n) & 31)) ^ ((u) << ((64 - (n)) & 31)))
#define ASCON_DIFFUSE(l, h, a, b) do { \
    uint32_t l_ = (l), h_ = (h); \
    (l) = l_ ^ ASCON_ROTR(l_, h_, a) ^ ASCON_ROTR(l_, h_, b); \
    (h) = h_ ^ ASCON_ROTR(h_, l_, a) ^ ASCON_ROTR(h_, l_, b); \
} while (0)

#endif
