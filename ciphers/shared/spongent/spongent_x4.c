/*
 * Four Spongent-pi in parallel.
 *
 * Bit q of byte m, q = (q2 q1 q0) and m = (t, m1 m0) with t = m / 4, is bit
 * (q1 q0) of nibble (t, m1 m0 q2).  To slice the nibbles is to exchange index
 * bits: q1 with m1, and q0 with m0, between the four words of a t.  Word
 * (b1 b0) then holds slice b, which pLayer moves as a whole, its eight bits
 * being numbers (r2 r1 r0) = (m1 m0 q2) of a byte of the next state.
 *
 * These bits are left where the exchange has put them: r2 in the place of q1,
 * r1 in that of q0 and r0 in that of q2.  After three rounds they are again in
 * order, so that there are three kinds of rounds, of which each has its
 * places Q1 and Q0: (1, 0), (0, 2) and (2, 1).
 */
#include "spongent_x4.h"

#define WORDS (SPONGENT_BITS / 32)
#define SLICE_BYTES (SPONGENT_BITS / 32)

/* Places whose index bit p is 0, and the distance to that with 1. */
#define LOW(p)                                                               \
    ((p) == 0 ? 0x55555555u : (p) == 1 ? 0x33333333u : 0x0f0f0f0fu)
#define DISTANCE(p) (1 << (p))

/* Exchanges index bit p with that in which words x (0) and y (1) differ. */
#define EXCHANGE(x, y, p)                                                    \
    do {                                                                     \
        uint32_t e = (y ^ x >> DISTANCE(p)) & LOW(p);                        \
                                                                             \
        y ^= e;                                                              \
        x ^= e << DISTANCE(p);                                               \
    } while (0)

/* Exchanges index bits within the bytes of x. */
#define SWAPMOVE(x, mask, n)                                                 \
    do {                                                                     \
        uint32_t e = (x ^ x >> (n)) & (mask);                                \
                                                                             \
        x ^= e ^ e << (n);                                                   \
    } while (0)
#define EXCHANGE_2_1(x) SWAPMOVE(x, 0x0c0c0c0cu, 2)
#define EXCHANGE_2_0(x) SWAPMOVE(x, 0x0a0a0a0au, 3)
#define EXCHANGE_1_0(x) SWAPMOVE(x, 0x22222222u, 1)

/* sBoxLayer and the exchange, on four words */
#define SBOXES(q1, q0)                                                       \
    do {                                                                     \
        EXCHANGE(x0, x2, q1);                                                \
        EXCHANGE(x1, x3, q1);                                                \
        EXCHANGE(x0, x1, q0);                                                \
        EXCHANGE(x2, x3, q0);                                                \
        SPONGENT_SBOXLAYER(uint32_t, x0, x1, x2, x3);                        \
    } while (0)

/*
 * The counter and, in the next byte, the counter in reverse order, from the
 * order of the state's bits of a round to the next; both x^7 + x^6 + 1.
 */
static inline uint32_t next_counter(uint32_t c)
{
    return (c << 1 & 0x7f) | ((c >> 6 ^ c >> 5) & 1) | (c >> 1 & 0x7e00) |
           ((c << 6 ^ c << 5) & 0x8000);
}

#define START(c) ((uint32_t)(c) | REVERSE((uint32_t)(c)) << 8)
#define REVERSE(c)                                                           \
    (((c) & 1) << 7 | ((c) & 2) << 5 | ((c) & 4) << 3 | ((c) & 8) << 1 |     \
     ((c) & 16) >> 1 | ((c) & 32) >> 3 | ((c) & 64) >> 5)

/* A round from s to y; c is the counter in the order of the state. */
static inline void one_round(uint32_t *y, uint32_t *s, uint32_t c,
                             uint8_t q1, uint8_t q0)
{
    uint32_t x0, x1, x2, x3;
    uint8_t t;
#if SPONGENT_BITS == 176
    uint32_t high1 = 0, high3 = 0;
#endif

    s[0] ^= (c & 0xff) * 0x01010101u;
    s[SPONGENT_BYTES - 1] ^= (c >> 8) * 0x01010101u;

    for (t = 0; t < WORDS; t++, s += 4) {
        x0 = s[0];
        x1 = s[1];
        x2 = s[2];
        x3 = s[3];
        SBOXES(q1, q0);
#if SPONGENT_BITS == 160
        y[t] = x3;
        y[SLICE_BYTES + t] = x1;
        y[2 * SLICE_BYTES + t] = x0;
        y[3 * SLICE_BYTES + t] = x2;
#else
        /* slices 1 and 3 begin in the middle of a byte; r2 is at q1 */
        y[t] = x3;
        y[5 + t] = (x1 & LOW(q1)) << DISTANCE(q1) | high1;
        high1 = x1 >> DISTANCE(q1) & LOW(q1);
        y[11 + t] = x0;
        y[16 + t] = (x2 & LOW(q1)) << DISTANCE(q1) | high3;
        high3 = x2 >> DISTANCE(q1) & LOW(q1);
#endif
    }
#if SPONGENT_BITS == 176
    x0 = s[0];
    x1 = s[1];
    x2 = 0;
    x3 = 0;
    SBOXES(q1, q0);
    y[5] |= x3 & LOW(q1);
    y[10] = (x1 & LOW(q1)) << DISTANCE(q1) | high1;
    y[16] |= x0 & LOW(q1);
    y[21] = (x2 & LOW(q1)) << DISTANCE(q1) | high3;
#endif
}

void spongent_x4(uint32_t *x)
{
    uint32_t buffer[SPONGENT_BYTES], *s = x, *y = buffer;
    uint32_t counter = START(LCOUNTER_START), c;
    uint8_t i;

    for (i = 0;; i++) {
        uint32_t *saved = s;

        one_round(y, s, counter, 1, 0);
        counter = next_counter(counter);

        c = counter;
        EXCHANGE_2_1(c);
        EXCHANGE_2_0(c);
        one_round(s, y, c, 0, 2);
        counter = next_counter(counter);

        if (i == SPONGENT_ROUNDS / 3)
            break;
        c = counter;
        EXCHANGE_2_1(c);
        EXCHANGE_1_0(c);
        one_round(y, s, c, 2, 1);
        counter = next_counter(counter);

        s = y;
        y = saved;
#if SPONGENT_ROUNDS % 3 == 0
        if (i == SPONGENT_ROUNDS / 3 - 1)
            break;
#endif
    }

    for (i = 0; i < SPONGENT_BYTES; i++) {
        uint32_t w = s[i];

#if SPONGENT_ROUNDS % 3 == 2 /* back to the order of the first round */
        EXCHANGE_1_0(w);
        EXCHANGE_2_1(w);
#endif
        x[i] = w;
    }
}
