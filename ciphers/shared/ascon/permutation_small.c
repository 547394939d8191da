/* Ascon-p (SP 800-232, section 3; Ascon v1.2, "Permutation"), smallest code. */
#include "ascon.h"

#if ASCON_COLUMNS

/*
 * Column k of word i of x ^ (x >>> 8*q + r) ^ (x >>> 8*u + v), where t
 * points to that column of the state.  Done in place for k = 0, 1, ..., 7:
 * T_{k+r} is read before it is written, because r and v are not 0.
 */
#define DIFFUSE(t, i, q, r, u, v) \
    ((t)[i] ^= (uint8_t)(ROTL8((t)[5 * (r) + (i)], q) ^ \
                         ROTL8((t)[5 * (v) + (i)], u)))

void ascon_permute(ascon_state *s, uint8_t rounds)
{
    uint8_t c = ASCON_FIRST_CONSTANT(rounds);
    uint8_t *t = (uint8_t *)s;     /* column 0 */

    do {
        uint8_t k = 8;
        uint8_t ci = c;

        do {
            uint8_t x0 = t[0], x1 = t[1], x2 = t[2], x3 = t[3], x4 = t[4];

            /* p_C (3.2): S_2 <- S_2 ^ c_i */
            if (ci & 1)
                x2 ^= 0x80;
            ci >>= 1;
            /* p_S (3.3) */
            ASCON_SBOX_COLUMN(x0, x1, x2, x3, x4);
            t[0] = x0;
            t[1] = x1;
            t[2] = x2;
            t[3] = x3;
            t[4] = x4;
            t[40] = ROTL8(x0, 1);
            t[41] = ROTL8(x1, 1);
            t[42] = ROTL8(x2, 1);
            t[43] = ROTL8(x3, 1);
            t[44] = ROTL8(x4, 1);
            t += 5;
        } while (--k != 0);

        /* p_L (3.4) */
        t -= 8 * 5;
        k = 8;
        do {
            DIFFUSE(t, 0, 2, 3, 3, 4);  /* 19, 28 */
            DIFFUSE(t, 1, 7, 5, 4, 7);  /* 61, 39 */
            DIFFUSE(t, 2, 0, 1, 0, 6);  /*  1,  6 */
            DIFFUSE(t, 3, 1, 2, 2, 1);  /* 10, 17 */
            DIFFUSE(t, 4, 0, 7, 5, 1);  /*  7, 41 */
            t += 5;
        } while (--k != 0);
        t -= 8 * 5;

        c = (uint8_t)(c - ASCON_CONSTANT_STEP);
    } while (c != ASCON_AFTER_LAST_CONSTANT);
}

/* Transpose the bit matrix of eight rows: bit i of row k <-> bit k of row i. */
static void transpose(uint8_t *row)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        SWAP_BLOCKS(row[i], row[i + 4], 4, 0xf0);
    for (i = 0; i < 6; i = (i == 1) ? 4 : (uint8_t)(i + 1))
        SWAP_BLOCKS(row[i], row[i + 2], 2, 0xcc);
    for (i = 0; i < 8; i = (uint8_t)(i + 2))
        SWAP_BLOCKS(row[i], row[i + 1], 1, 0xaa);
}

void ascon_add(ascon_state *s, uint8_t i, const unsigned char *p, uint8_t n)
{
    uint8_t row[8] = { 0 };
    uint8_t j;

    for (j = 0; j < n; j++)
        row[ASCON_ROW(j)] = p[j];
    transpose(row);
    for (j = 0; j < 8; j++)
        ASCON_T(s, i, j) ^= row[j];
}

void ascon_extract(const ascon_state *s, uint8_t i, unsigned char *p, uint8_t n)
{
    uint8_t row[8];
    uint8_t j;

    for (j = 0; j < 8; j++)
        row[j] = ASCON_T(s, i, j);
    transpose(row);
    for (j = 0; j < n; j++)
        p[j] = row[ASCON_ROW(j)];
}

#else

void ascon_permute(ascon_state *s, uint8_t rounds)
{
    uint8_t c = ASCON_FIRST_CONSTANT(rounds);

    do {
        uint8_t h;

        /* p_C (3.2): S_2 <- S_2 ^ c_i */
        s->x[2][0] ^= c;

        /* p_S (3.3), on the lower and the upper half of the words */
        for (h = 0; h < 2; h++) {
            uint32_t x0 = s->x[0][h], x1 = s->x[1][h], x2 = s->x[2][h];
            uint32_t x3 = s->x[3][h], x4 = s->x[4][h];

            ASCON_SBOX(x0, x1, x2, x3, x4);
            s->x[0][h] = x0;
            s->x[1][h] = x1;
            s->x[2][h] = x2;
            s->x[3][h] = x3;
            s->x[4][h] = x4;
        }

        /* p_L (3.4) */
        ASCON_DIFFUSE(s->x[0][0], s->x[0][1], 19, 28);
        ASCON_DIFFUSE(s->x[1][0], s->x[1][1], 61, 39);
        ASCON_DIFFUSE(s->x[2][0], s->x[2][1], 1, 6);
        ASCON_DIFFUSE(s->x[3][0], s->x[3][1], 10, 17);
        ASCON_DIFFUSE(s->x[4][0], s->x[4][1], 7, 41);

        c = (uint8_t)(c - ASCON_CONSTANT_STEP);
    } while (c != ASCON_AFTER_LAST_CONSTANT);
}

#endif
