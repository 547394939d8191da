/*
 * SKINNY-128-384, fixsliced (A. Adomnicai, T. Peyrin, "Fixslicing AES-like
 * Ciphers", TCHES 2021): no cell is ever moved by ShiftRows or MixColumns.
 *
 * The slices are those of "skinny.h".  A round moves row r to row r + 1, as
 * the last step of MixColumns, and before that r columns to the right.  Here
 * the rows stay: at the start of round i, counted from 0, the place of row q
 * has the cells of row (q + i) mod 4 of the specification, moved to the left
 * by
 *
 *   o(q, i) = sum of (q + j) mod 4 for j = 0 .. i - 1
 *
 * columns.  After eight rounds everything is at its place again, and after
 * four rounds but for two columns.  What is left of both steps are three
 * additions of one row to another, with a rotation each that depends on i.
 *
 * The tweakey.  A half of a tweakey array (two rows) becomes rows 0 and 1
 * every other round, and P_T orders its cells at that time: one cycle of all
 * eight, 1 0 2 4 6 5 3 7.  The halves are stored in this order, two cells a
 * byte, so that P_T is a rotation by one cell; for it commutes with the
 * LFSRs, which work inside cells, it is done once, to the sum of the arrays.
 */
#include "skinny128_fixsliced.h"

#define SKINNY_WORD32
#include "skinny128_round.h"

#define ROTL(x, n) ((x) << (n) | (x) >> (-(n) & 31))
#define ROTR(x, n) ROTL(x, -(n) & 31)

/* Masks that are to stay in a register, where one instruction can shift or
 * complement the other operand */
#if defined(__GNUC__)
#define OPAQUE(x) __asm__("" : "+r"(x))
#else
#define OPAQUE(x) (void)(x)
#endif

/* Eight cells in the order of the cycle */
static void load_half(skinny128_half *h, const uint8_t *p)
{
    uint8_t x[8];

    x[0] = p[1];
    x[1] = p[2];
    x[2] = p[6];
    x[3] = p[3];
    x[4] = p[0];
    x[5] = p[4];
    x[6] = p[5];
    x[7] = p[7];
    skinny128_pack_half(h, x);
}

/* P_T */
#define TURN(x)                                                              \
    (((x) & 0x33333333u) << 2 | ROTR((x) & 0xccccccccu, 26))

/* From the order of the cycle to rows 0 and 1 */
static inline uint32_t to_rows(uint32_t x)
{
    return (ROTR(x, 2) & 0x00000033u) | (ROTR(x, 24) & 0x00333300u) |
           (ROTR(x, 8) & 0x0000ccccu) | (ROTR(x, 30) & 0x00cc0000u) |
           (x & 0xff000000u);
}

/* From rows 0 and 1 to their places in a round: rotations by 8 bits a column
 * and 2 bits a row.  Four rounds later it is 16 bits more. */
#define PLACE(x, row0, row1)                                                 \
    (ROTL((x) & 0x33333333u, row0) | ROTL((x) & 0xccccccccu, row1))
#define PLACE_0(x) (x)
#define PLACE_1(x) PLACE(x, 14, 30)
#define PLACE_2(x) PLACE(x, 28, 12)
#define PLACE_3(x) PLACE(x, 18, 26)

/*
 * One round of the schedule.  x and y are the halves of TK2 and TK3 that are
 * rows 0 and 1.  In rounds 4n .. 4n + 3, P_T has been applied to them 2n,
 * 2n + 1, 2n + 1 and 2n + 2 times: turn, if odd, and a rotation by r, 8 bits
 * for every two.  The constants c_0 and c_1 are in the same rows.
 */
#define AS_IT_IS(x) (x)
#define SCHEDULE(x, y, z, turn, r, place)                                    \
    do {                                                                     \
        uint32_t even_ = (x).even[0] ^ (y).even[0] ^ (z).even[0];            \
        uint32_t odd_ = (x).odd[0] ^ (y).odd[0] ^ (z).odd[0];                \
                                                                             \
        even_ = turn(even_);                                                 \
        odd_ = turn(odd_);                                                   \
        even_ = to_rows(ROTL(even_, r));                                     \
        odd_ = to_rows(ROTL(odd_, r));                                       \
        rc = skinny_next_constant(rc, 6);                                    \
        even_ ^= (rc & 1u) | (rc & 4u) << 2 | (rc >> 2 & 4u);                \
        odd_ ^= (rc >> 1 & 1u) | (rc & 8u) << 1 | (rc >> 3 & 4u);            \
        even_ = place(even_);                                                \
        odd_ = place(odd_);                                                  \
        *schedule++ = ROTL(even_, column);                                   \
        *schedule++ = ROTL(odd_, column);                                    \
        skinny128_lfsr2(&(x));                                               \
        skinny128_lfsr3(&(y));                                               \
    } while (0)

void skinny128_schedule(uint32_t *schedule, const uint8_t *tk1,
                        const uint8_t *tk2, const uint8_t *tk3)
{
    static const skinny128_half none;
    skinny128_half h1 = none, h2[2], h3[2];
    uint8_t rc = 0, n = 0, r = 0, column = 0;

    if (tk1)
        load_half(&h1, tk1 + 8);
    load_half(&h2[0], tk2);
    load_half(&h2[1], tk2 + 8);
    load_half(&h3[0], tk3);
    load_half(&h3[1], tk3 + 8);
    skinny128_lfsr2(&h2[1]);
    skinny128_lfsr3(&h3[1]);

    for (n = 0; n < SKINNY_ROUNDS / 4; n++) {
        uint8_t next = (uint8_t)((r + 8) & 31);

        SCHEDULE(h2[0], h3[0], none, AS_IT_IS, r, PLACE_0);
        SCHEDULE(h2[1], h3[1], h1, TURN, r, PLACE_1);
        SCHEDULE(h2[0], h3[0], none, TURN, r, PLACE_2);
        SCHEDULE(h2[1], h3[1], h1, AS_IT_IS, next, PLACE_3);
        r = next;
        column ^= 16;
    }
}

/* SubCells: skinny128_sub_cells */
#define SUB_CELLS                                                            \
    do {                                                                     \
        uint32_t x_;                                                         \
                                                                             \
        s0 ^= ~(s3 | s2);                                                    \
        s2 ^= (low & ~(s2 | s1)) << 1;                                       \
        s1 ^= (low & ~(s0 | s0 >> 1)) << 1;                                  \
        s1 ^= low & ~(s0 | s3);                                              \
        s3 ^= high & ~(s2 | s1);                                             \
        x_ = (high & ~(s3 << 1 ^ (s1 | s0))) |                               \
             (low & ~(s2 ^ (s1 | s3 >> 1)));                                 \
        s2 = (high & s0) | (low & s2 >> 1);                                  \
        s0 = (high & s0 << 1) | (low & s3 >> 1);                             \
        s3 = s1;                                                             \
        s1 = s0;                                                             \
        s0 = x_;                                                             \
    } while (0)

/* AddRoundTweakey, with c_0 and c_1, and c_2; rows is the mask of rows 0 and
 * 1 in this round. */
#define ADD_TWEAKEY(even, odd, rows, c2)                                     \
    do {                                                                     \
        uint32_t e_ = (even), o_ = (odd);                                    \
                                                                             \
        s0 ^= e_ & (rows);                                                   \
        s1 ^= o_ & (rows);                                                   \
        s1 ^= (uint32_t)1 << (c2);                                           \
        e_ &= ~(rows);                                                       \
        o_ &= ~(rows);                                                       \
        s2 ^= ROTR(e_, 4);                                                   \
        s3 ^= ROTR(o_, 4);                                                   \
    } while (0)

/* The three additions of MixColumns: row 2 to row 1, row 0 to row 2, row 2 to
 * row 3 */
#define ADD_ROW(s, row, n)                                                   \
    do {                                                                     \
        uint32_t t_ = (s) & (row);                                           \
                                                                             \
        (s) ^= ROTR(t_, n);                                                  \
    } while (0)

#define MIX_SLICE(s, row2, n1, row0, n2, n3)                                 \
    do {                                                                     \
        ADD_ROW(s, row2, n1);                                                \
        ADD_ROW(s, row0, n2);                                                \
        ADD_ROW(s, row2, n3);                                                \
    } while (0)

#define MIX(row2, n1, row0, n2, n3)                                          \
    do {                                                                     \
        MIX_SLICE(s0, row2, n1, row0, n2, n3);                               \
        MIX_SLICE(s1, row2, n1, row0, n2, n3);                               \
        MIX_SLICE(s2, row2, n1, row0, n2, n3);                               \
        MIX_SLICE(s3, row2, n1, row0, n2, n3);                               \
    } while (0)

#define MIX_0 MIX(SKINNY_ROW2, 26, SKINNY_ROW0, 12, 6)
#define MIX_1 MIX(SKINNY_ROW1, 18, SKINNY_ROW3, 4, 14)
#define MIX_2 MIX(SKINNY_ROW0, 2, SKINNY_ROW2, 20, 22)
#define MIX_3 MIX(SKINNY_ROW3, 2, SKINNY_ROW1, 28, 6)

#define EVEN_ROUND(j, rows, c2, mix)                                         \
    do {                                                                     \
        SUB_CELLS;                                                           \
        ADD_TWEAKEY(k[2 * (j)] ^ t[j], k[2 * (j) + 1] ^ t[(j) + 1], rows,    \
                    c2);                                                     \
        mix;                                                                 \
    } while (0)

#define ODD_ROUND(j, rows, c2, mix)                                          \
    do {                                                                     \
        SUB_CELLS;                                                           \
        ADD_TWEAKEY(k[2 * (j)], k[2 * (j) + 1], rows, c2);                   \
        mix;                                                                 \
    } while (0)

/* TK1 in rounds 0, 2, .. 14; it repeats itself then.  Not inlined, for the
 * registers. */
SKINNY_FUNCTION void schedule_tk1(uint32_t *tk, uint32_t x)
{
    uint32_t y = TURN(x);

    tk[0] = PLACE_0(to_rows(x));
    tk[2] = PLACE_2(to_rows(y));
    tk[4] = ROTL(PLACE_0(to_rows(ROTL(x, 8))), 16);
    tk[6] = ROTL(PLACE_2(to_rows(ROTL(y, 8))), 16);
    tk[8] = PLACE_0(to_rows(ROTL(x, 16)));
    tk[10] = PLACE_2(to_rows(ROTL(y, 16)));
    tk[12] = ROTL(PLACE_0(to_rows(ROTL(x, 24))), 16);
    tk[14] = ROTL(PLACE_2(to_rows(ROTL(y, 24))), 16);
}

void skinny128_encrypt_scheduled(uint8_t *block, const uint8_t *tk1,
                                 const uint32_t *schedule)
{
    skinny128_state x;
    skinny128_half h;
    uint32_t tk[16], s0, s1, s2, s3, low = SKINNY_LOW, high = SKINNY_HIGH;
    const uint32_t *k = schedule, *t;
    uint8_t i;

    load_half(&h, tk1);
    schedule_tk1(tk, h.even[0]);
    schedule_tk1(tk + 1, h.odd[0]);

    skinny128_pack(&x, block);
    s0 = x.s[0][0];
    s1 = x.s[1][0];
    s2 = x.s[2][0];
    s3 = x.s[3][0];
    OPAQUE(low);
    OPAQUE(high);
    for (i = 0; i < SKINNY_ROUNDS / 8; i++) {
        t = tk + (i & 1) * 8;
        EVEN_ROUND(0, 0x0f0f0f0fu, 4, MIX_0);
        ODD_ROUND(1, 0xc3c3c3c3u, 26, MIX_1);
        EVEN_ROUND(2, 0xf0f0f0f0u, 24, MIX_2);
        ODD_ROUND(3, 0x3c3c3c3cu, 6, MIX_3);
        EVEN_ROUND(4, 0x0f0f0f0fu, 20, MIX_0);
        ODD_ROUND(5, 0xc3c3c3c3u, 10, MIX_1);
        EVEN_ROUND(6, 0xf0f0f0f0u, 8, MIX_2);
        ODD_ROUND(7, 0x3c3c3c3cu, 22, MIX_3);
        k += 16;
    }
    x.s[0][0] = s0;
    x.s[1][0] = s1;
    x.s[2][0] = s2;
    x.s[3][0] = s3;
    skinny128_unpack(block, &x);
}
