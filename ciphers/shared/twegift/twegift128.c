/*
 * TweGIFT-128, fixsliced, with the round keys of gift128_fast.c.  There is
 * said in which order the bits are; after every fifth round, where the tweak
 * is added, it is that of the specification.
 */
#include "twegift128.h"

#include "nibbles.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define CONSTANT_TABLE const uint32_t PROGMEM
#define CONSTANT(p) pgm_read_dword(p)
#else
#define CONSTANT_TABLE const uint32_t
#define CONSTANT(p) (*(p))
#endif

/* The bits 127, 23, 19, 15, 11, 7 and 3 of AddRoundConstant, all in S_3, of
 * rounds 1 to 40, moved by P_3^-1 .. P_3^-40 */
static CONSTANT_TABLE constants[40] = {
    0x10000008u, 0x80018000u, 0x54000002u, 0x01010181u, 0x8000001fu,
    0x10888880u, 0x6001e000u, 0x51500002u, 0x03030180u, 0x8000002fu,
    0x10088880u, 0x60016000u, 0x41500002u, 0x03030080u, 0x80000027u,
    0x10008880u, 0x4001e000u, 0x11500002u, 0x03020180u, 0x8000002bu,
    0x10080880u, 0x60014000u, 0x01400002u, 0x02020080u, 0x80000021u,
    0x10000080u, 0x0001c000u, 0x51000002u, 0x03010180u, 0x8000002eu,
    0x10088800u, 0x60012000u, 0x40500002u, 0x01030080u, 0x80000006u,
    0x10008808u, 0xc001a000u, 0x14500002u, 0x01020181u, 0x8000001au,
};

/* AddTweak: t in 32 bits, for bit 0 of every nibble */
static uint32_t expand(uint8_t t)
{
    uint8_t sum = (uint8_t)(t ^ t >> 2);
    uint32_t x;

    sum = (uint8_t)((sum ^ sum >> 1) & 1);
    x = (uint8_t)(t | (t ^ (-sum & 15)) << 4);
    x |= x << 8;
    return x | x << 16;
}

/* Every part of the word that begins at a bit of first, rotated to the left
 * by n of its n + m bits: first * (2^m - 1) are the bits that move left. */
#define PARTS(x, first, n, m)                                                \
    (((x) & (first) * ((1ul << (m)) - 1)) << (n) |                           \
     ((x) >> (m) & (first) * ((1ul << (n)) - 1)))
#define NIBBLES_1(x) PARTS(x, 0x11111111u, 1, 3)
#define NIBBLES_2(x) PARTS(x, 0x11111111u, 2, 2)
#define NIBBLES_3(x) PARTS(x, 0x11111111u, 3, 1)
#define HALVES_4(x) PARTS(x, 0x00010001u, 4, 12)
#define HALVES_8(x) PARTS(x, 0x00010001u, 8, 8)
#define HALVES_12(x) PARTS(x, 0x00010001u, 12, 4)
#define BYTES_2(x) PARTS(x, 0x01010101u, 2, 6)
#define BYTES_4(x) PARTS(x, 0x01010101u, 4, 4)
#define BYTES_6(x) PARTS(x, 0x01010101u, 6, 2)
#define WORD(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define WORD_8(x) WORD(x, 8)
#define WORD_16(x) WORD(x, 16)
#define WORD_24(x) WORD(x, 24)
/* pairs of bits in the whole word, and in one half after their exchange */
#define PAIRS(x) PARTS(x, 0x55555555u, 1, 1)
#define PAIRS_0(x) PAIRS_OF(WORD_16(x), 0x55550000u, 0x0000ffffu)
#define PAIRS_2(x) PAIRS_OF(WORD_16(x), 0x00005555u, 0xffff0000u)
#define PAIRS_OF(x, mask, rest)                                              \
    (((x) & (rest)) | ((x) & (mask)) << 1 | ((x) >> 1 & (mask)))

/* SubCells, PermBits, AddRoundKey and AddRoundConstant; l0, l1 and l2 are what
 * is left of PermBits.  The new S_0 is s3, the new S_3 is s0. */
#define ROUND(s0, s1, s2, s3, l0, l1, l2, r)                                 \
    do {                                                                     \
        GIFT128_SUBCELLS(uint32_t, s0, s1, s2, s3);                          \
        s3 = l0(s3);                                                         \
        s1 = l1(s1);                                                         \
        s2 = l2(s2);                                                         \
        s2 ^= rk[2 * (r)];                                                   \
        s1 ^= rk[2 * (r) + 1];                                               \
        s0 ^= CONSTANT(p + (r));                                             \
    } while (0)

static void load(uint32_t *s, const uint8_t *x)
{
    uint8_t byte[16], i;

    for (i = 0; i < 4; i++) {
        uint8_t *p = byte + 3 - i;

        nibbles_to_slices(x + 4 * i, p, p + 4, p + 8, p + 12);
    }
    for (i = 0; i < 4; i++)
        s[i] = GIFT128_LOAD32(byte + 4 * i);
}

static void store(uint8_t *x, const uint32_t *s)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        slices_to_nibbles(x + 4 * i, (uint8_t)(s[0] >> 8 * i),
                          (uint8_t)(s[1] >> 8 * i), (uint8_t)(s[2] >> 8 * i),
                          (uint8_t)(s[3] >> 8 * i));
}

void twegift128_encrypt(const gift128_key *key, uint8_t t, uint8_t *x)
{
    const uint32_t *rk = key->rk, *p = constants;
    const uint32_t tweak = expand(t);
    uint32_t s[4], s0, s1, s2, s3;

    load(s, x);
    s0 = s[0];
    s1 = s[1];
    s2 = s[2];
    s3 = s[3];
    for (;;) {
        ROUND(s0, s1, s2, s3, NIBBLES_3, NIBBLES_2, NIBBLES_1, 0);
        ROUND(s3, s1, s2, s0, HALVES_12, HALVES_8, HALVES_4, 1);
        ROUND(s0, s1, s2, s3, PAIRS_0, PAIRS, PAIRS_2, 2);
        ROUND(s3, s1, s2, s0, BYTES_2, BYTES_4, BYTES_6, 3);
        ROUND(s0, s1, s2, s3, WORD_8, WORD_16, WORD_24, 4);
        p += 5;
        rk += 10;
        s[0] = s3;
        s3 = s0;
        s0 = s[0];
        if (p == constants + 40)
            break;
        s0 ^= tweak;
    }
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    s[3] = s3;
    store(x, s);
}
