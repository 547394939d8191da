/*
 * One round of SKINNY-128 and of its tweakey schedule, in the order of bits
 * of "skinny.h" with W = 4 (section 2.3 of the SKINNY-AEAD specification).
 */
#ifndef SKINNY128_ROUND_H
#define SKINNY128_ROUND_H

#include "skinny.h"

typedef struct {
    skinny_word s[4][SKINNY_COLUMNS];
} skinny128_state;

/* Two rows of a tweakey array: slices 0 and 2, slices 1 and 3. */
typedef struct {
    skinny_word even[SKINNY_COLUMNS], odd[SKINNY_COLUMNS];
} skinny128_half;

/* The tweakey arrays at some round. */
typedef struct {
    skinny128_half tk[SKINNY_TK][2];
    uint8_t top; /* which of the two halves is rows 0 and 1 */
} skinny128_tweakey;

/* Two rows, eight bytes, into the order of bits. */
SKINNY_FUNCTION void skinny128_pack_half(skinny128_half *h, const uint8_t *p)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word r0 = SKINNY_LOAD(p, c), r1 = SKINNY_LOAD(p + 4, c);

        /* bits 7 6 5 4 3 2 1 0 become 7 3 6 2 5 1 4 0 */
        SKINNY_SWAP(r0, 0x0cu, 2);
        SKINNY_SWAP(r0, 0x22u, 1);
        SKINNY_SWAP(r1, 0x0cu, 2);
        SKINNY_SWAP(r1, 0x22u, 1);
        h->even[c] = (skinny_word)((r0 & SKINNY_MASK(0x33u)) |
                                   (r1 & SKINNY_MASK(0x33u)) << 2);
        h->odd[c] = (skinny_word)((r0 & SKINNY_MASK(0xccu)) >> 2 |
                                  (r1 & SKINNY_MASK(0xccu)));
    }
}

SKINNY_FUNCTION void skinny128_unpack_half(uint8_t *p, const skinny128_half *h)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word r0 = (skinny_word)((h->even[c] & SKINNY_MASK(0x33u)) |
                                       (h->odd[c] & SKINNY_MASK(0x33u)) << 2);
        skinny_word r1 = (skinny_word)((h->even[c] & SKINNY_MASK(0xccu)) >> 2 |
                                       (h->odd[c] & SKINNY_MASK(0xccu)));

        SKINNY_SWAP(r0, 0x22u, 1);
        SKINNY_SWAP(r0, 0x0cu, 2);
        SKINNY_SWAP(r1, 0x22u, 1);
        SKINNY_SWAP(r1, 0x0cu, 2);
        SKINNY_STORE(p, c, r0);
        SKINNY_STORE(p + 4, c, r1);
    }
}

static inline void skinny128_pack(skinny128_state *x, const uint8_t *p)
{
    skinny128_half top, low;
    uint8_t c;

    skinny128_pack_half(&top, p);
    skinny128_pack_half(&low, p + 8);
    SKINNY_EACH_COLUMN(c) {
        x->s[0][c] = (skinny_word)(SKINNY_UPPER(top.even[c]) |
                                   SKINNY_UPPER(low.even[c]) << 4);
        x->s[1][c] = (skinny_word)(SKINNY_UPPER(top.odd[c]) |
                                   SKINNY_UPPER(low.odd[c]) << 4);
        x->s[2][c] = (skinny_word)(SKINNY_LOWER(top.even[c]) >> 4 |
                                   SKINNY_LOWER(low.even[c]));
        x->s[3][c] = (skinny_word)(SKINNY_LOWER(top.odd[c]) >> 4 |
                                   SKINNY_LOWER(low.odd[c]));
    }
}

static inline void skinny128_unpack(uint8_t *p, const skinny128_state *x)
{
    skinny128_half top, low;
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        top.even[c] = (skinny_word)(SKINNY_UPPER(x->s[0][c]) |
                                    SKINNY_UPPER(x->s[2][c]) << 4);
        top.odd[c] = (skinny_word)(SKINNY_UPPER(x->s[1][c]) |
                                   SKINNY_UPPER(x->s[3][c]) << 4);
        low.even[c] = (skinny_word)(SKINNY_LOWER(x->s[0][c]) >> 4 |
                                    SKINNY_LOWER(x->s[2][c]));
        low.odd[c] = (skinny_word)(SKINNY_LOWER(x->s[1][c]) >> 4 |
                                   SKINNY_LOWER(x->s[3][c]));
    }
    skinny128_unpack_half(p, &top);
    skinny128_unpack_half(p + 8, &low);
}

/*
 * SubCells.  The bits stay in place during the four steps of the S-box: where
 * step 1 works on bits 7 6 4 and 3 2 0, step 2 finds the same bits at 2 1 6
 * and 4 0 5, step 3 at 0 3 1 and 6 5 7, step 4 at 5 4 3 and 1 7 2.  What the
 * permutations leave to do is 7 .. 0 <- 5 4 0 3 1 6 7 2.
 */
static inline void skinny128_sub_cells(skinny128_state *x)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word s0 = x->s[0][c], s1 = x->s[1][c];
        skinny_word s2 = x->s[2][c], s3 = x->s[3][c];

        s0 ^= (skinny_word)~(s3 | s2);
        s2 ^= (skinny_word)((~(s2 | s1) & SKINNY_LOW) << 1);
        s1 ^= (skinny_word)((~(s0 | s0 >> 1) & SKINNY_LOW) << 1);
        s1 ^= ~(s0 | s3) & SKINNY_LOW;
        s3 ^= ~(s2 | s1) & SKINNY_HIGH;
        s3 ^= (skinny_word)((~(s1 | s0) & SKINNY_HIGH) >> 1);
        s2 ^= ~(s1 | s3 >> 1) & SKINNY_LOW;

        x->s[3][c] = s1;
        x->s[2][c] =
            (skinny_word)((s0 & SKINNY_HIGH) | (s2 & SKINNY_HIGH) >> 1);
        x->s[1][c] =
            (skinny_word)((s0 & SKINNY_LOW) << 1 | (s3 & SKINNY_HIGH) >> 1);
        x->s[0][c] =
            (skinny_word)((s3 & SKINNY_LOW) << 1 | (s2 & SKINNY_LOW));
    }
}

static inline void skinny128_sub_cells_inverse(skinny128_state *x)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word t0 = x->s[0][c], t1 = x->s[1][c];
        skinny_word t2 = x->s[2][c], s1 = x->s[3][c];
        skinny_word s0 =
            (skinny_word)((t2 & SKINNY_HIGH) | (t1 & SKINNY_HIGH) >> 1);
        skinny_word s2 =
            (skinny_word)((t2 & SKINNY_LOW) << 1 | (t0 & SKINNY_LOW));
        skinny_word s3 =
            (skinny_word)((t1 & SKINNY_LOW) << 1 | (t0 & SKINNY_HIGH) >> 1);

        s2 ^= ~(s1 | s3 >> 1) & SKINNY_LOW;
        s3 ^= (skinny_word)((~(s1 | s0) & SKINNY_HIGH) >> 1);
        s3 ^= ~(s2 | s1) & SKINNY_HIGH;
        s1 ^= ~(s0 | s3) & SKINNY_LOW;
        s1 ^= (skinny_word)((~(s0 | s0 >> 1) & SKINNY_LOW) << 1);
        s2 ^= (skinny_word)((~(s2 | s1) & SKINNY_LOW) << 1);
        s0 ^= (skinny_word)~(s3 | s2);

        x->s[0][c] = s0;
        x->s[1][c] = s1;
        x->s[2][c] = s2;
        x->s[3][c] = s3;
    }
}

/* AddConstants: c_0 = rc_3 .. rc_0, c_1 = the other bits of rc, c_2 = 2 in
 * the first column; with SKINNY_TWEAK, one more. */
static inline void skinny128_add_constants(skinny128_state *x, uint8_t rc)
{
    x->s[0][0] ^= (uint8_t)((rc & 1) | (rc >> 2 & 4));
    x->s[1][0] ^= (uint8_t)((rc >> 1 & 1) | (rc >> 3 & 4) | 0x10);
    x->s[2][0] ^= (uint8_t)((rc >> 2 & 1) | (rc >> 4 & 4));
    x->s[3][0] ^= (uint8_t)(rc >> 3 & 1);
#ifdef SKINNY_TWEAK
    skinny_add_tweak_constant(x->s[1]);
#endif
}

/* AddRoundTweakey */
static inline void skinny128_add_round_tweakey(skinny128_state *x,
                                               const skinny128_tweakey *t)
{
    const skinny128_half *tk = &t->tk[0][t->top];
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
#if SKINNY_TK == 3
        skinny_word even = tk[0].even[c] ^ tk[2].even[c] ^ tk[4].even[c];
        skinny_word odd = tk[0].odd[c] ^ tk[2].odd[c] ^ tk[4].odd[c];
#else
        skinny_word even = tk[0].even[c] ^ tk[2].even[c];
        skinny_word odd = tk[0].odd[c] ^ tk[2].odd[c];
#endif

        x->s[0][c] ^= SKINNY_UPPER(even);
        x->s[1][c] ^= SKINNY_UPPER(odd);
        x->s[2][c] ^= (skinny_word)(SKINNY_LOWER(even) >> 4);
        x->s[3][c] ^= (skinny_word)(SKINNY_LOWER(odd) >> 4);
    }
}

/* One round, without the update of the tweakey */
static inline void skinny128_round(skinny128_state *x,
                                   const skinny128_tweakey *t, uint8_t rc)
{
    uint8_t w;

    skinny128_sub_cells(x);
    skinny128_add_constants(x, rc);
    skinny128_add_round_tweakey(x, t);
    for (w = 0; w < 4; w++)
        skinny_shift_and_mix(x->s[w]);
}

static inline void skinny128_round_inverse(skinny128_state *x,
                                           const skinny128_tweakey *t,
                                           uint8_t rc)
{
    uint8_t w;

    for (w = 0; w < 4; w++)
        skinny_shift_and_mix_inverse(x->s[w]);
    skinny128_add_round_tweakey(x, t);
    skinny128_add_constants(x, rc);
    skinny128_sub_cells_inverse(x);
}

/* LFSR of TK2 (Table 3): bits 7 .. 0 <- 6 5 4 3 2 1 0 7^5 */
static inline void skinny128_lfsr2(skinny128_half *h)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word odd = h->odd[c];

        h->odd[c] = h->even[c];
        h->even[c] = (skinny_word)(
            SKINNY_UPPER(odd) << 4 | (odd >> 3 & SKINNY_MASK(0x0au)) |
            ((odd >> 5 ^ odd >> 1) & SKINNY_MASK(0x05u)));
    }
}

/* LFSR of TK3: bits 7 .. 0 <- 0^6 7 6 5 4 3 2 1, the inverse of the former */
static inline void skinny128_lfsr3(skinny128_half *h)
{
    uint8_t c;

    SKINNY_EACH_COLUMN(c) {
        skinny_word even = h->even[c];

        h->even[c] = h->odd[c];
        h->odd[c] = (skinny_word)(
            SKINNY_LOWER(even) >> 4 | (even << 3 & SKINNY_MASK(0x50u)) |
            ((even << 5 ^ even) & SKINNY_MASK(0xa0u)));
    }
}

/* The tweakey arrays of the next round: P_T exchanges the halves, and orders
 * the cells of that which becomes rows 0 and 1. */
static inline void skinny128_next_tweakey(skinny128_tweakey *t)
{
    uint8_t z;

    t->top ^= 1;
    for (z = 0; z < SKINNY_TK; z++) {
        skinny_permute_tweakey(t->tk[z][t->top].even);
        skinny_permute_tweakey(t->tk[z][t->top].odd);
    }
    skinny128_lfsr2(&t->tk[1][t->top]);
#if SKINNY_TK == 3
    skinny128_lfsr3(&t->tk[2][t->top]);
#endif
}

/* and those of the round before */
static inline void skinny128_previous_tweakey(skinny128_tweakey *t)
{
    uint8_t z;

    skinny128_lfsr3(&t->tk[1][t->top]);
#if SKINNY_TK == 3
    skinny128_lfsr2(&t->tk[2][t->top]);
#endif
    for (z = 0; z < SKINNY_TK; z++) {
        skinny_permute_tweakey_inverse(t->tk[z][t->top].even);
        skinny_permute_tweakey_inverse(t->tk[z][t->top].odd);
    }
    t->top ^= 1;
}

/* Array z of the tweakey, from 16 bytes */
static inline void skinny128_set_tweakey(skinny128_tweakey *t, uint8_t z,
                                         const uint8_t *p)
{
    skinny128_pack_half(&t->tk[z][0], p);
    skinny128_pack_half(&t->tk[z][1], p + 8);
}

#endif
