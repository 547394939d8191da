/* ForkSkinny: Figure 2 of the ForkAE specification. */
#include <string.h>

#include "forkskinny.h"

#define SKINNY_TK ((FORK_T + FORK_N - 1) / FORK_N)
#define SKINNY_TWEAK

#if FORK_N == 16
#include "skinny128_round.h"
#define SKINNY(name) skinny128_##name
#else
#include "skinny64_round.h"
#define SKINNY(name) skinny64_##name
#endif

typedef SKINNY(state) state;

/* A state's place in the schedule of tweakeys and constants */
typedef struct {
    SKINNY(tweakey) tk;
    uint8_t rc;
} place;

static void next(place *p)
{
    SKINNY(next_tweakey)(&p->tk);
    p->rc = skinny_next_constant(p->rc, 7);
}

static void previous(place *p)
{
    SKINNY(previous_tweakey)(&p->tk);
    p->rc = skinny_previous_constant(p->rc, 7);
}

/* Enc-Skinny_r */
SKINNY_FUNCTION void encrypt(state *x, place *p, uint8_t rounds)
{
    while (rounds-- != 0) {
        SKINNY(round)(x, &p->tk, p->rc);
        next(p);
    }
}

/* Dec-Skinny_r, from the place behind the last round */
SKINNY_FUNCTION void decrypt(state *x, place *p, uint8_t rounds)
{
    while (rounds-- != 0) {
        previous(p);
        SKINNY(round_inverse)(x, &p->tk, p->rc);
    }
}

/*
 * The place before the first round.  TK1, TK2 and TK3 are filled with K || T
 * (Figure 2, and the known answers; the text has the tweak first); what is
 * left of the last one is zero.
 */
SKINNY_FUNCTION void start(place *p, const uint8_t *tk)
{
    uint8_t last[FORK_N], z;

    p->tk.top = 0;
    for (z = 0; z < SKINNY_TK - 1; z++)
        SKINNY(set_tweakey)(&p->tk, z, tk + FORK_N * z);
    memset(last, 0, sizeof last);
    memcpy(last, tk + FORK_N * z, FORK_T - FORK_N * (SKINNY_TK - 1));
    SKINNY(set_tweakey)(&p->tk, z, last);
    p->rc = skinny_next_constant(0, 7);
}

/* L = L + BC: the LFSR of TK2, started at 1, cell after cell */
static void add_branch_constant(state *x)
{
    uint8_t bc[FORK_N], r = 1, i;
    state y;

    for (i = 0; i < FORK_N; i++) {
#if FORK_N == 16
        bc[i] = r;
        r = (uint8_t)(r << 1 | ((r >> 7 ^ r >> 5) & 1));
#else
        bc[i] = (uint8_t)(r << 4);
        r = (uint8_t)((r << 1 & 0x0f) | ((r >> 3 ^ r >> 2) & 1));
        bc[i] |= r;
        r = (uint8_t)((r << 1 & 0x0f) | ((r >> 3 ^ r >> 2) & 1));
#endif
    }
    SKINNY(pack)(&y, bc);
    for (i = 0; i < sizeof x->s / sizeof x->s[0]; i++) {
        uint8_t c;

        SKINNY_EACH_COLUMN(c)
            x->s[i][c] ^= y.s[i][c];
    }
}

void forkskinny_right(uint8_t *c1, const uint8_t *m, const uint8_t *tk)
{
    state x;
    place p;

    start(&p, tk);
    SKINNY(pack)(&x, m);
    encrypt(&x, &p, FORK_RINIT + FORK_R1);
    SKINNY(unpack)(c1, &x);
}

/* The left branch goes on with the tweakeys and the constants of the right
 * one: Table 5 has as many as both branches and the rounds before take. */
void forkskinny_both(uint8_t *c0, uint8_t *c1, const uint8_t *m,
                     const uint8_t *tk)
{
    state x, l;
    place p;

    start(&p, tk);
    SKINNY(pack)(&x, m);
    encrypt(&x, &p, FORK_RINIT);
    l = x;
    encrypt(&x, &p, FORK_R1);
    SKINNY(unpack)(c1, &x);
    add_branch_constant(&l);
    encrypt(&l, &p, FORK_R0);
    SKINNY(unpack)(c0, &l);
}

void forkskinny_inverse(uint8_t *m, uint8_t *c1, const uint8_t *c0,
                        const uint8_t *tk)
{
    state x, l;
    place p, fork;
    uint8_t i;

    start(&p, tk);
    for (i = 0; i < FORK_RINIT; i++)
        next(&p);
    fork = p;
    for (i = 0; i < FORK_R1 + FORK_R0; i++)
        next(&p);
    SKINNY(pack)(&l, c0);
    decrypt(&l, &p, FORK_R0);
    add_branch_constant(&l);

    p = fork;
    x = l;
    encrypt(&x, &p, FORK_R1);
    SKINNY(unpack)(c1, &x);
    decrypt(&l, &fork, FORK_RINIT);
    SKINNY(unpack)(m, &l);
}
