/*
 * TweGIFT-64, fixsliced (A. Adomnicai, Z. Najm, T. Peyrin, "Fixslicing: A New
 * GIFT Representation", TCHES 2020).
 *
 * Slice S_j holds bit j of every nibble: its bit 4b + c is x_(16b+4c+j), a
 * matrix with row b and column c.  PermBits (Table 2.2) sends it to row j - c
 * modulo 4, column b; call this P_j.  P_3 is a rotation of the matrix by a
 * quarter.  Here S_3 is never moved: after r rounds bit i of every slice, of
 * the round keys and of the round constants is bit P_3^r(i) of the
 * specification.  What is left of P_j in round r + 1, P_3^-r P_3^-1 P_j P_3^r,
 * is a rotation of every row (r mod 4 = 0 and 2) or of the rows (1 and 3), to
 * the left by 3 - j places in 0 and 1, to the right in 2 and 3.  After four
 * rounds, where the tweak is added, the order is that of the specification.
 */
#include "twegift64.h"

#include "nibbles.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define CONSTANT_TABLE const uint16_t PROGMEM
#define CONSTANT(p) pgm_read_word(p)
#else
#define CONSTANT_TABLE const uint16_t
#define CONSTANT(p) (*(p))
#endif

/* 0x8000 and the bits c_5 .. c_0 (AddRoundConstant) of rounds 1 to 28, moved
 * by P_3^-1 .. P_3^-28 */
static CONSTANT_TABLE constants[28] = {
    0x1008u, 0xc001u, 0x1118u, 0x800fu, 0x988cu, 0x7c01u, 0x3219u,
    0x803bu, 0x18ccu, 0xf401u, 0x2119u, 0x803cu, 0x904cu, 0xcc01u,
    0x1318u, 0x800eu, 0x980cu, 0x5c01u, 0x3218u, 0x802bu, 0x1884u,
    0x3401u, 0x2009u, 0x8030u, 0x1048u, 0x4001u, 0x1018u, 0x800bu,
};

/* Every row (nibble) rotated to the left by n, and all rows by n places */
#define ROW_1(x) (uint16_t)(((x) << 1 & 0xeeee) | ((x) >> 3 & 0x1111))
#define ROW_2(x) (uint16_t)(((x) << 2 & 0xcccc) | ((x) >> 2 & 0x3333))
#define ROW_3(x) (uint16_t)(((x) << 3 & 0x8888) | ((x) >> 1 & 0x7777))
#define ROTATE(x, n) (uint16_t)((x) << (n) | (x) >> (16 - (n)))

/* Exchanges the bits under the mask with those n places above. */
#define SWAPMOVE(x, mask, n)                                                 \
    do {                                                                     \
        uint16_t t_ = (uint16_t)(((x) ^ (x) >> (n)) & (mask));               \
                                                                             \
        (x) = (uint16_t)((x) ^ t_ ^ t_ << (n));                              \
    } while (0)

/* P_3^-r of a word: transposition, reversal of the rows or of each row */
static uint16_t reorder(uint16_t x, uint8_t r)
{
    if ((r & 1) != 0) {
        SWAPMOVE(x, 0x0a0au, 3);
        SWAPMOVE(x, 0x00ccu, 6);
    }
    if (r == 1 || r == 2) {
        SWAPMOVE(x, 0x5555u, 1);
        SWAPMOVE(x, 0x3333u, 2);
    }
    if (r == 2 || r == 3) {
        SWAPMOVE(x, 0x0f0fu, 4);
        SWAPMOVE(x, 0x00ffu, 8);
    }
    return x;
}

/*
 * A pair u, v is used in every fourth round, always in the same order of bits,
 * and updated in between: u >>> 2, v >>> 12.  The latter is a rotation of the
 * rows by one place; in the former the columns 2 and 3 become 0 and 1, and 0
 * and 1 of a row become 2 and 3 of the row before.
 */
void twegift64_set_key(twegift64_key *key, const uint8_t *k)
{
    uint16_t *rk = key->rk, w[8];
    uint8_t i;

    for (i = 0; i < 8; i++)
        w[i] = reorder((uint16_t)(k[2 * i] | (uint16_t)k[2 * i + 1] << 8),
                       (uint8_t)((i / 2 + 1) & 3));
    for (;;) {
        for (i = 0; i < 8; i++)
            *rk++ = w[i];
        if (rk == key->rk + 56)
            return;
        w[0] = ROW_3(w[0]);
        w[1] = (uint16_t)(w[1] >> 8 | ROW_1(w[1]) << 8);
        w[2] = ROTATE(w[2], 12);
        w[3] = ROTATE(w[3], 2);
        w[4] = ROW_1(w[4]);
        w[5] = (uint16_t)(ROW_3(w[5]) >> 8 | w[5] << 8);
        w[6] = ROTATE(w[6], 4);
        w[7] = ROTATE(w[7], 14);
    }
}

/* AddTweak: t in 16 bits, for bit 2 of every nibble */
static uint16_t expand(uint8_t t)
{
    uint8_t sum = (uint8_t)(t ^ t >> 2);
    uint16_t x;

    sum = (uint8_t)((sum ^ sum >> 1) & 1);
    x = (uint16_t)(t | (t ^ (-sum & 15)) << 4);
    return (uint16_t)(x | x << 8);
}

/* SubCells, PermBits, AddRoundKey and AddRoundConstant; l0, l1 and l2 are what
 * is left of PermBits.  The new S_0 is s3, the new S_3 is s0. */
#define ROUND(s0, s1, s2, s3, l0, l1, l2, r)                                 \
    do {                                                                     \
        s1 ^= (uint16_t)(s0 & s2);                                           \
        s0 ^= (uint16_t)(s1 & s3);                                           \
        s2 ^= (uint16_t)(s0 | s1);                                           \
        s3 ^= s2;                                                            \
        s1 ^= s3;                                                            \
        s3 = (uint16_t)~s3;                                                  \
        s2 ^= (uint16_t)(s0 & s1);                                           \
        s3 = l0(s3);                                                         \
        s1 = l1(s1);                                                         \
        s2 = l2(s2);                                                         \
        s3 ^= rk[2 * (r)];                                                   \
        s1 ^= rk[2 * (r) + 1];                                               \
        s0 ^= CONSTANT(p + (r));                                             \
    } while (0)

#define INVERSE_ROUND(s0, s1, s2, s3, l0, l1, l2, r)                         \
    do {                                                                     \
        s0 ^= CONSTANT(p + (r));                                             \
        s1 ^= rk[2 * (r) + 1];                                               \
        s3 ^= rk[2 * (r)];                                                   \
        s2 = l2(s2);                                                         \
        s1 = l1(s1);                                                         \
        s3 = l0(s3);                                                         \
        s2 ^= (uint16_t)(s0 & s1);                                           \
        s3 = (uint16_t)~s3;                                                  \
        s1 ^= s3;                                                            \
        s3 ^= s2;                                                            \
        s2 ^= (uint16_t)(s0 | s1);                                           \
        s0 ^= (uint16_t)(s1 & s3);                                           \
        s1 ^= (uint16_t)(s0 & s2);                                           \
    } while (0)

#define ROTATE_4(x) ROTATE(x, 4)
#define ROTATE_8(x) ROTATE(x, 8)
#define ROTATE_12(x) ROTATE(x, 12)

static void load(uint16_t *s, const uint8_t *x)
{
    uint8_t low[4], high[4], j;

    nibbles_to_slices(x, low, low + 1, low + 2, low + 3);
    nibbles_to_slices(x + 4, high, high + 1, high + 2, high + 3);
    for (j = 0; j < 4; j++)
        s[j] = (uint16_t)(low[j] | (uint16_t)high[j] << 8);
}

static void store(uint8_t *x, uint16_t s0, uint16_t s1, uint16_t s2,
                  uint16_t s3)
{
    slices_to_nibbles(x, (uint8_t)s0, (uint8_t)s1, (uint8_t)s2, (uint8_t)s3);
    slices_to_nibbles(x + 4, (uint8_t)(s0 >> 8), (uint8_t)(s1 >> 8),
                      (uint8_t)(s2 >> 8), (uint8_t)(s3 >> 8));
}

void twegift64_encrypt(const twegift64_key *key, uint8_t t, uint8_t *x)
{
    const uint16_t *rk = key->rk, *p = constants;
    const uint16_t tweak = expand(t);
    uint16_t s[4], s0, s1, s2, s3;

    load(s, x);
    s0 = s[0];
    s1 = s[1];
    s2 = s[2];
    s3 = s[3];
    for (;;) {
        ROUND(s0, s1, s2, s3, ROW_3, ROW_2, ROW_1, 0);
        ROUND(s3, s1, s2, s0, ROTATE_12, ROTATE_8, ROTATE_4, 1);
        ROUND(s0, s1, s2, s3, ROW_1, ROW_2, ROW_3, 2);
        ROUND(s3, s1, s2, s0, ROTATE_4, ROTATE_8, ROTATE_12, 3);
        p += 4;
        rk += 8;
        if (p == constants + 28)
            break;
        s2 ^= tweak;
    }
    store(x, s0, s1, s2, s3);
}

void twegift64_decrypt(const twegift64_key *key, uint8_t t, uint8_t *x)
{
    const uint16_t *rk = key->rk + 48, *p = constants + 24;
    const uint16_t tweak = expand(t);
    uint16_t s[4], s0, s1, s2, s3;

    load(s, x);
    s0 = s[0];
    s1 = s[1];
    s2 = s[2];
    s3 = s[3];
    for (;;) {
        INVERSE_ROUND(s3, s1, s2, s0, ROTATE_12, ROTATE_8, ROTATE_4, 3);
        INVERSE_ROUND(s0, s1, s2, s3, ROW_3, ROW_2, ROW_1, 2);
        INVERSE_ROUND(s3, s1, s2, s0, ROTATE_4, ROTATE_8, ROTATE_12, 1);
        INVERSE_ROUND(s0, s1, s2, s3, ROW_1, ROW_2, ROW_3, 0);
        if (p == constants)
            break;
        p -= 4;
        rk -= 8;
        s2 ^= tweak;
    }
    store(x, s0, s1, s2, s3);
}
