/*
 * KNOT, by rows of bits (section 3 of the specification).
 */
#include "knot.h"

/* Table 1 */
#if KNOT_B == 32
#define C1 1
#define C2 8
#define C3 25
#elif KNOT_B == 48
#define C1 1
#define C2 8
#define C3 55
#else
#define C1 1
#define C2 16
#define C3 25
#endif

/* The LFSR of d bits (section 2.2) */
static uint8_t next_constant(uint8_t rc)
{
#if KNOT_D == 6
    return (uint8_t)((rc << 1 & 0x3f) | ((rc >> 5 ^ rc >> 4) & 1));
#elif KNOT_D == 7
    return (uint8_t)((rc << 1 & 0x7f) | ((rc >> 6 ^ rc >> 5) & 1));
#else
    return (uint8_t)(rc << 1 |
                     ((rc >> 7 ^ rc >> 5 ^ rc >> 4 ^ rc >> 3) & 1));
#endif
}

/* ShiftRow: d = b <<< c */
static inline void shift_row(knot_word *d, const knot_word *b, uint8_t c)
{
    uint8_t whole = (uint8_t)(c / KNOT_WORD_BITS), i;

    c %= KNOT_WORD_BITS;
    for (i = 0; i < KNOT_ROW; i++) {
        uint8_t from = (uint8_t)(i + KNOT_ROW - whole) % KNOT_ROW;
        uint8_t below = (uint8_t)(from + KNOT_ROW - 1) % KNOT_ROW;

        if (c == 0)
            d[i] = b[from];
        else
            d[i] = (knot_word)(b[from] << c |
                               b[below] >> (KNOT_WORD_BITS - c));
    }
}

void knot_permute(knot_state *s, uint8_t rounds)
{
    knot_word b[4][KNOT_ROW]; /* b[0] is not used */
    uint8_t rc = 1, i;

    for (; rounds != 0; rounds--) {
        /* AddRoundConstant */
        s->a[0][0] ^= rc;
        rc = next_constant(rc);

        /* SubColumn, steps 1 to 12 of section 3.1 */
        for (i = 0; i < KNOT_ROW; i++) {
            knot_word a0 = s->a[0][i], a1 = s->a[1][i];
            knot_word a2 = s->a[2][i], a3 = s->a[3][i];
            knot_word t1 = (knot_word)~a0;
            knot_word t3 = (knot_word)(a2 ^ (a1 & t1));
            knot_word t6 = a3 ^ t1, t8 = a1 ^ a3;
            knot_word b2 = (knot_word)((a1 | a2) ^ t6);

            s->a[0][i] = (knot_word)(t8 ^ (t3 & t6));
            b[1][i] = (knot_word)(t3 ^ (b2 & t8));
            b[2][i] = b2;
            b[3][i] = a3 ^ t3;
        }

        shift_row(s->a[1], b[1], C1);
        shift_row(s->a[2], b[2], C2);
        shift_row(s->a[3], b[3], C3);
    }
}
