/*
 * One round of SKINNY-64 and of its tweakey schedule, in the order of bits of
 * "skinny.h" with W = 2 (C. Beierle et al., "The SKINNY Family of Block
 * Ciphers and its Low-Latency Variant MANTIS", CRYPTO 2016; section 4.1 of
 * the ForkAE specification).
 */
#ifndef SKINNY64_ROUND_H
#define SKINNY64_ROUND_H

#include "skinny.h"

typedef struct {
    skinny_word s[2][SKINNY_COLUMNS];
} skinny64_state;

/* Two rows of a tweakey array: slices 0 and 1. */
typedef struct {
    skinny_word both[SKINNY_COLUMNS];
} skinny64_half;

/* The tweakey arrays at some round. */
typedef struct {
    skinny64_half tk[SKINNY_TK][2];
    uint8_t top; /* which of the two halves is rows 0 and 1 */
} skinny64_tweakey;

/* Two rows, four bytes, into the order of bits. */
SKINNY_FUNCTION void skinny64_pack_half(skinny64_half *h, const uint8_t *p)
{
    uint8_t column[4], c;

    /* row 1 above row 0, bits 3 2 1 0 of both */
    column[0] = (uint8_t)((p[2] & 0xf0) | p[0] >> 4);
    column[1] = (uint8_t)(p[2] << 4 | (p[0] & 0x0f));
    column[2] = (uint8_t)((p[3] & 0xf0) | p[1] >> 4);
    column[3] = (uint8_t)(p[3] << 4 | (p[1] & 0x0f));
    SKINNY_EACH_COLUMN(c) {
        skinny_word x = SKINNY_LOAD(column, c);

        /* bits 3 1 of both rows, then bits 2 0 */
        SKINNY_SWAP(x, 0x22u, 1);
        SKINNY_SWAP(x, 0x0cu, 2);
        h->both[c] = x;
    }
}

SKINNY_FUNCTION void skinny64_unpack_half(uint8_t *p, const skinny64_half *h)
{
    uint8_t column[4], c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word x = h->both[c];

        SKINNY_SWAP(x, 0x0cu, 2);
        SKINNY_SWAP(x, 0x22u, 1);
        SKINNY_STORE(column, c, x);
    }
    p[0] = (uint8_t)(column[0] << 4 | (column[1] & 0x0f));
    p[1] = (uint8_t)(column[2] << 4 | (column[3] & 0x0f));
    p[2] = (uint8_t)((column[0] & 0xf0) | column[1] >> 4);
    p[3] = (uint8_t)((column[2] & 0xf0) | column[3] >> 4);
}

static inline void skinny64_pack(skinny64_state *x, const uint8_t *p)
{
    skinny64_half top, low;
    uint8_t c;

    skinny64_pack_half(&top, p);
    skinny64_pack_half(&low, p + 4);
    SKINNY_EACH_COLUMN(c) {
        x->s[0][c] = (skinny_word)(SKINNY_UPPER(top.both[c]) |
                                   SKINNY_UPPER(low.both[c]) << 4);
        x->s[1][c] = (skinny_word)(SKINNY_LOWER(top.both[c]) >> 4 |
                                   SKINNY_LOWER(low.both[c]));
    }
}

static inline void skinny64_unpack(uint8_t *p, const skinny64_state *x)
{
    skinny64_half top, low;
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        top.both[c] = (skinny_word)(SKINNY_UPPER(x->s[0][c]) |
                                    SKINNY_UPPER(x->s[1][c]) << 4);
        low.both[c] = (skinny_word)(SKINNY_LOWER(x->s[0][c]) >> 4 |
                                    SKINNY_LOWER(x->s[1][c]));
    }
    skinny64_unpack_half(p, &top);
    skinny64_unpack_half(p + 4, &low);
}

/*
 * SubCells: four times x_0 += NOR(x_3, x_2), with a rotation of the bits
 * after the first three.  They stay in place here; the rotations leave
 * 3 2 1 0 <- 0 3 2 1 to do.
 */
static inline void skinny64_sub_cells(skinny64_state *x)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word s0 = x->s[0][c], s1 = x->s[1][c];

        s0 ^= (skinny_word)((~(s1 | s0) & SKINNY_HIGH) >> 1);
        s1 ^= (skinny_word)(~(s0 | s1 << 1) & SKINNY_HIGH);
        s0 ^= (skinny_word)((~(s1 | s0) & SKINNY_LOW) << 1);
        s1 ^= ~(s0 | s1 >> 1) & SKINNY_LOW;

        x->s[1][c] =
            (skinny_word)((s0 & SKINNY_LOW) << 1 | (s0 & SKINNY_HIGH) >> 1);
        x->s[0][c] = s1;
    }
}

static inline void skinny64_sub_cells_inverse(skinny64_state *x)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word t = x->s[1][c], s1 = x->s[0][c];
        skinny_word s0 =
            (skinny_word)((t & SKINNY_LOW) << 1 | (t & SKINNY_HIGH) >> 1);

        s1 ^= ~(s0 | s1 >> 1) & SKINNY_LOW;
        s0 ^= (skinny_word)((~(s1 | s0) & SKINNY_LOW) << 1);
        s1 ^= (skinny_word)(~(s0 | s1 << 1) & SKINNY_HIGH);
        s0 ^= (skinny_word)((~(s1 | s0) & SKINNY_HIGH) >> 1);

        x->s[0][c] = s0;
        x->s[1][c] = s1;
    }
}

/* AddConstants: c_0 = rc_3 .. rc_0, c_1 = the other bits of rc, c_2 = 2 in
 * the first column; with SKINNY_TWEAK, one more. */
static inline void skinny64_add_constants(skinny64_state *x, uint8_t rc)
{
    x->s[0][0] ^= (uint8_t)((rc & 1) | (rc >> 1 & 2) | (rc >> 2 & 4) |
                            (rc >> 3 & 8));
    x->s[1][0] ^=
        (uint8_t)((rc >> 1 & 1) | (rc >> 2 & 2) | (rc >> 3 & 4) | 0x10);
#ifdef SKINNY_TWEAK
    skinny_add_tweak_constant(x->s[1]);
#endif
}

/* AddRoundTweakey */
static inline void skinny64_add_round_tweakey(skinny64_state *x,
                                              const skinny64_tweakey *t)
{
    const skinny64_half *tk = &t->tk[0][t->top];
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word both = tk[0].both[c] ^ tk[2].both[c];

#if SKINNY_TK == 3
        both ^= tk[4].both[c];
#endif
        x->s[0][c] ^= SKINNY_UPPER(both);
        x->s[1][c] ^= (skinny_word)(SKINNY_LOWER(both) >> 4);
    }
}

/* One round, without the update of the tweakey */
static inline void skinny64_round(skinny64_state *x,
                                  const skinny64_tweakey *t, uint8_t rc)
{
    uint8_t w;

    skinny64_sub_cells(x);
    skinny64_add_constants(x, rc);
    skinny64_add_round_tweakey(x, t);
    for (w = 0; w < 2; w++)
        skinny_shift_and_mix(x->s[w]);
}

static inline void skinny64_round_inverse(skinny64_state *x,
                                          const skinny64_tweakey *t,
                                          uint8_t rc)
{
    uint8_t w;

    for (w = 0; w < 2; w++)
        skinny_shift_and_mix_inverse(x->s[w]);
    skinny64_add_round_tweakey(x, t);
    skinny64_add_constants(x, rc);
    skinny64_sub_cells_inverse(x);
}

/* LFSR of TK2: bits 3 2 1 0 <- 2 1 0 3^2 */
static inline void skinny64_lfsr2(skinny64_half *h)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word both = h->both[c];

        h->both[c] = (skinny_word)(
            SKINNY_UPPER(both) << 4 | (both >> 3 & SKINNY_MASK(0x0au)) |
            ((both >> 5 ^ both >> 1) & SKINNY_MASK(0x05u)));
    }
}

/* LFSR of TK3: bits 3 2 1 0 <- 0^3 3 2 1, the inverse of the former */
static inline void skinny64_lfsr3(skinny64_half *h)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word both = h->both[c];

        h->both[c] = (skinny_word)(
            SKINNY_LOWER(both) >> 4 | (both << 3 & SKINNY_MASK(0x50u)) |
            ((both << 5 ^ both) & SKINNY_MASK(0xa0u)));
    }
}

/* The tweakey arrays of the next round: P_T exchanges the halves, and orders
 * the cells of that which becomes rows 0 and 1. */
static inline void skinny64_next_tweakey(skinny64_tweakey *t)
{
    uint8_t z;

    t->top ^= 1;
    for (z = 0; z < SKINNY_TK; z++)
        skinny_permute_tweakey(t->tk[z][t->top].both);
    skinny64_lfsr2(&t->tk[1][t->top]);
#if SKINNY_TK == 3
    skinny64_lfsr3(&t->tk[2][t->top]);
#endif
}

/* and those of the round before */
static inline void skinny64_previous_tweakey(skinny64_tweakey *t)
{
    uint8_t z;

    skinny64_lfsr3(&t->tk[1][t->top]);
#if SKINNY_TK == 3
    skinny64_lfsr2(&t->tk[2][t->top]);
#endif
    for (z = 0; z < SKINNY_TK; z++)
        skinny_permute_tweakey_inverse(t->tk[z][t->top].both);
    t->top ^= 1;
}

/* Array z of the tweakey, from 8 bytes */
static inline void skinny64_set_tweakey(skinny64_tweakey *t, uint8_t z,
                                        const uint8_t *p)
{
    skinny64_pack_half(&t->tk[z][0], p);
    skinny64_pack_half(&t->tk[z][1], p + 4);
}

#endif
