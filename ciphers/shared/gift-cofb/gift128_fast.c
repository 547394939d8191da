/*
 * GIFT-128, fast: fixsliced (A. Adomnicai, Z. Najm, T. Peyrin, "Fixslicing: A
 * New GIFT Representation", TCHES 2020).
 *
 * PermBits of slice S_i (Table 2.2) is the permutation P_i: bit 4b + c moves
 * to bit 8((i - c) mod 4) + b.  P_3 is a rotation of the five bits of the
 * index, two of them complemented, and P_3^5 is the identity.  Here S_3 is
 * never moved: after r rounds bit j of every slice, of the round keys and of
 * the round constants is bit P_3^r(j) of the specification.  What is left of
 * P_i in round r + 1 is
 *
 *   P_3^-r P_3^-1 P_i P_3^r,
 *
 * for i = 0, 1, 2 a rotation of the places in every nibble (r mod 5 = 0),
 * half word (1), pair of halves and pair of bits (2), byte (3) and word (4).
 */
#include "gift128.h"

#if defined(__AVR__)

#include <avr/pgmspace.h>

#define CONSTANT_TABLE const uint32_t PROGMEM
#define CONSTANT(p) pgm_read_dword(p)

/* Shifts by bytes, which are moves, and by less than eight bits, apart. */
#define OPAQUE(x) __asm__("" : "+r"(x))

static inline uint32_t shift_left(uint32_t x, uint8_t n)
{
    x <<= n & 24;
    OPAQUE(x);
    return x << (n & 7);
}

static inline uint32_t shift_right(uint32_t x, uint8_t n)
{
    x >>= n & 24;
    OPAQUE(x);
    return x >> (n & 7);
}

static inline uint32_t rotate_left(uint32_t x, uint8_t n)
{
    uint8_t bits = n & 7, bytes = (uint8_t)((n + 3) & 24);

    if (bytes != 0)
        x = x << bytes | x >> (32 - bytes);
    OPAQUE(x);
    if (bits > 4) /* one byte further, and back */
        return x >> (8 - bits) |
               (uint32_t)(uint8_t)((uint8_t)x << bits) << 24;
    return x << bits | (uint8_t)((uint8_t)(x >> 24) >> (8 - bits));
}

#define SHIFT_LEFT(x, n) shift_left(x, n)
#define SHIFT_RIGHT(x, n) shift_right(x, n)
#define ROTATE_LEFT(x, n) rotate_left(x, n)

#else

#define CONSTANT_TABLE const uint32_t
#define CONSTANT(p) (*(p))
#define SHIFT_LEFT(x, n) ((x) << (n))
#define SHIFT_RIGHT(x, n) ((x) >> (n))
#define ROTATE_LEFT(x, n) ((x) << (n) | (x) >> (32 - (n)))

#endif

/* 0x800000XY (section 2.4.1) of rounds 1 to 40, moved by P_3^-1 .. P_3^-40. */
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

/*
 * Key schedule.  A word of the key state is used as V, two rounds later as U,
 * and is updated (16-bit halves rotated by 2 and by 12) before every use as
 * U but the first.  So from round to round + 10, which use the same order of
 * bits, V updated three times becomes U, and U updated twice becomes V.
 */

/* Exchanges the bits under the mask with those n places above. */
#define SWAPMOVE(x, mask, n)                                                 \
    do {                                                                     \
        uint32_t t = ((x) ^ SHIFT_RIGHT(x, n)) & (mask);                     \
                                                                             \
        (x) ^= t ^ SHIFT_LEFT(t, n);                                         \
    } while (0)

/* P_3^-r of a word; every SWAPMOVE exchanges two bits of the index. */
static uint32_t reorder(uint32_t x, uint8_t r)
{
    switch (r) {
    case 1:
        SWAPMOVE(x, 0x0a0a0a0au, 3);
        SWAPMOVE(x, 0x00550055u, 9);
        SWAPMOVE(x, 0x00003333u, 18);
        SWAPMOVE(x, 0x000000ffu, 24);
        break;
    case 2:
        SWAPMOVE(x, 0x00cc00ccu, 6);
        SWAPMOVE(x, 0x00550055u, 9);
        SWAPMOVE(x, 0x03030303u, 6);
        SWAPMOVE(x, 0x000000ffu, 24);
        break;
    case 3:
        SWAPMOVE(x, 0x0000aaaau, 15);
        SWAPMOVE(x, 0x000000ffu, 24);
        SWAPMOVE(x, 0x03030303u, 6);
        SWAPMOVE(x, 0x00cc00ccu, 6);
        break;
    case 4:
        SWAPMOVE(x, 0x0000aaaau, 15);
        SWAPMOVE(x, 0x0a0a0a0au, 3);
        SWAPMOVE(x, 0x00cc00ccu, 6);
        SWAPMOVE(x, 0x000000ffu, 24);
        break;
    default:
        break;
    }
    return x;
}

/* UPDATE_r_n: n updates of a word moved by P_3^-r. */
#define UPDATE_0_2(x)                                                        \
    (ROTATE_LEFT((x) & 0x000000ffu, 8) |                                     \
     ROTATE_LEFT((x) & 0x000f0000u, 12) |                                    \
     ROTATE_LEFT((x) & 0x0000ff00u, 24) |                                    \
     ROTATE_LEFT((x) & 0xfff00000u, 28))
#define UPDATE_0_3(x)                                                        \
    (ROTATE_LEFT((x) & 0x003f0000u, 10) |                                    \
     ROTATE_LEFT((x) & 0x0000000fu, 12) |                                    \
     ROTATE_LEFT((x) & 0xffc00000u, 26) |                                    \
     ROTATE_LEFT((x) & 0x0000fff0u, 28))
#define UPDATE_1_2(x)                                                        \
    (ROTATE_LEFT((x) & 0x44444444u, 1) |                                     \
     ROTATE_LEFT((x) & 0x00002222u, 15) |                                    \
     ROTATE_LEFT((x) & 0x33330000u, 16) |                                    \
     ROTATE_LEFT((x) & 0x00001111u, 17) |                                    \
     ROTATE_LEFT((x) & 0x88888888u, 31))
#define UPDATE_1_3(x)                                                        \
    (ROTATE_LEFT((x) & 0x00222222u, 7) |                                     \
     ROTATE_LEFT((x) & 0x33000000u, 8) |                                     \
     ROTATE_LEFT((x) & 0x00111111u, 9) |                                     \
     ROTATE_LEFT((x) & 0x00008888u, 15) |                                    \
     ROTATE_LEFT((x) & 0xcccc0000u, 16) |                                    \
     ROTATE_LEFT((x) & 0x00004444u, 17))
#define UPDATE_2_2(x)                                                        \
    (ROTATE_LEFT((x) & 0x003f003fu, 2) |                                     \
     ROTATE_LEFT((x) & 0x0f000f00u, 4) |                                     \
     ROTATE_LEFT((x) & 0x00c000c0u, 26) |                                    \
     ROTATE_LEFT((x) & 0xf000f000u, 28))
#define UPDATE_2_3(x)                                                        \
    (ROTATE_LEFT((x) & 0x3f003f00u, 2) |                                     \
     ROTATE_LEFT((x) & 0x001f001fu, 3) |                                     \
     ROTATE_LEFT((x) & 0xc000c000u, 26) |                                    \
     ROTATE_LEFT((x) & 0x00e000e0u, 27))
#define UPDATE_3_2(x)                                                        \
    (ROTATE_LEFT((x) & 0xaaaaaaaau, 8) |                                     \
     ROTATE_LEFT((x) & 0x55555555u, 16))
#define UPDATE_3_3(x)                                                        \
    (ROTATE_LEFT((x) & 0x55555555u, 8) |                                     \
     ROTATE_LEFT((x) & 0xaaaaaaaau, 12))
#define UPDATE_4_2(x)                                                        \
    (ROTATE_LEFT((x) & 0x03030303u, 2) |                                     \
     ROTATE_LEFT((x) & 0x10101010u, 3) |                                     \
     ROTATE_LEFT((x) & 0x0c0c0c0cu, 30) |                                    \
     ROTATE_LEFT((x) & 0xe0e0e0e0u, 31))
#define UPDATE_4_3(x)                                                        \
    (ROTATE_LEFT((x) & 0x01010101u, 3) |                                     \
     ROTATE_LEFT((x) & 0xc0c00000u, 14) |                                    \
     ROTATE_LEFT((x) & 0x0000e0e0u, 15) |                                    \
     ROTATE_LEFT((x) & 0x30300000u, 18) |                                    \
     ROTATE_LEFT((x) & 0x00001010u, 19) |                                    \
     ROTATE_LEFT((x) & 0x0e0e0e0eu, 31))

#define NEXT_ROUND_KEY(r, rk)                                                \
    do {                                                                     \
        (rk)[20] = UPDATE_##r##_3((rk)[1]); /* U */                          \
        (rk)[21] = UPDATE_##r##_2((rk)[0]); /* V */                          \
    } while (0)

void gift128_set_key(gift128_key *key, const uint8_t *k)
{
    uint32_t *rk = key->rk;
    uint32_t w01 = GIFT128_LOAD32(k), w23 = GIFT128_LOAD32(k + 4);
    uint32_t w45 = GIFT128_LOAD32(k + 8), w67 = GIFT128_LOAD32(k + 12);
    uint8_t r = 0;

    for (; rk != key->rk + 20; rk += 2) { /* rounds 1 to 10 */
        uint32_t w = w67;

        r = r == 4 ? 0 : (uint8_t)(r + 1);
        rk[0] = reorder(w23, r);
        rk[1] = reorder(w67, r);
        w67 = w45;
        w45 = w23;
        w23 = w01;
        w01 = (w >> 2 & 0x3fff0000u) | (w << 14 & 0xc0000000u) |
              (w << 4 & 0x0000fff0u) | (w >> 12 & 0x0000000fu);
    }
    for (rk = key->rk; rk != key->rk + 60; rk += 10) {
        NEXT_ROUND_KEY(1, rk);
        NEXT_ROUND_KEY(2, rk + 2);
        NEXT_ROUND_KEY(3, rk + 4);
        NEXT_ROUND_KEY(4, rk + 6);
        NEXT_ROUND_KEY(0, rk + 8);
    }
}

#if defined(__AVR__)

/*
 * The slices in bytes, lowest first: moves of whole bytes are names.
 */

/* within a byte: every nibble, pair of bits or the byte rotated to the left */
#define NIBBLES_1(x) (uint8_t)(((x) << 1 & 0xee) | ((x) >> 3 & 0x11))
#define NIBBLES_2(x) (uint8_t)(((x) << 2 & 0xcc) | ((x) >> 2 & 0x33))
#define NIBBLES_3(x) (uint8_t)(((x) << 3 & 0x88) | ((x) >> 1 & 0x77))
#define PAIRS(x) (uint8_t)(((x) << 1 & 0xaa) | ((x) >> 1 & 0x55))
#define BYTE(x, n) (uint8_t)((x) << (n) | (x) >> (8 - (n)))
/* the low nibble of x and the high nibble of y */
#define NIBBLES_OF(x, y) (uint8_t)(((x) & 0x0f) | ((y) & 0xf0))

#define SUBCELLS()                                                           \
    do {                                                                     \
        GIFT128_SUBCELLS(uint8_t, a0, b0, c0, d0);                           \
        GIFT128_SUBCELLS(uint8_t, a1, b1, c1, d1);                           \
        GIFT128_SUBCELLS(uint8_t, a2, b2, c2, d2);                           \
        GIFT128_SUBCELLS(uint8_t, a3, b3, c3, d3);                           \
    } while (0)

/* S_2 = c and S_1 = b; S_3, which is here in the place of S_0, is a. */
#define ADD_ROUND_KEY(r)                                                     \
    do {                                                                     \
        uint32_t constant = CONSTANT(p + (r));                               \
                                                                             \
        c0 ^= k[8 * (r)];                                                    \
        c1 ^= k[8 * (r) + 1];                                                \
        c2 ^= k[8 * (r) + 2];                                                \
        c3 ^= k[8 * (r) + 3];                                                \
        b0 ^= k[8 * (r) + 4];                                                \
        b1 ^= k[8 * (r) + 5];                                                \
        b2 ^= k[8 * (r) + 6];                                                \
        b3 ^= k[8 * (r) + 7];                                                \
        a0 ^= (uint8_t)constant;                                             \
        a1 ^= (uint8_t)(constant >> 8);                                      \
        a2 ^= (uint8_t)(constant >> 16);                                     \
        a3 ^= (uint8_t)(constant >> 24);                                     \
    } while (0)

#define EXCHANGE(x, y)                                                       \
    do {                                                                     \
        uint8_t saved = x;                                                   \
                                                                             \
        x = y;                                                               \
        y = saved;                                                           \
    } while (0)

/* The end of SubCells: the new S_0 is d, the new S_3 is a. */
#define EXCHANGE_S0_S3()                                                     \
    do {                                                                     \
        EXCHANGE(a0, d0);                                                    \
        EXCHANGE(a1, d1);                                                    \
        EXCHANGE(a2, d2);                                                    \
        EXCHANGE(a3, d3);                                                    \
    } while (0)

void gift128_encrypt(const gift128_key *key, uint8_t *y)
{
    uint8_t a0 = y[3], a1 = y[2], a2 = y[1], a3 = y[0];
    uint8_t b0 = y[7], b1 = y[6], b2 = y[5], b3 = y[4];
    uint8_t c0 = y[11], c1 = y[10], c2 = y[9], c3 = y[8];
    uint8_t d0 = y[15], d1 = y[14], d2 = y[13], d3 = y[12];
    const uint8_t *k = (const uint8_t *)key->rk;
    const uint32_t *p;
    uint8_t t;

    for (p = constants; p != constants + 40; p += 5) {
        /* r mod 5 = 0: nibbles */
        SUBCELLS();
        d0 = NIBBLES_3(d0);
        d1 = NIBBLES_3(d1);
        d2 = NIBBLES_3(d2);
        d3 = NIBBLES_3(d3);
        b0 = NIBBLES_2(b0);
        b1 = NIBBLES_2(b1);
        b2 = NIBBLES_2(b2);
        b3 = NIBBLES_2(b3);
        c0 = NIBBLES_1(c0);
        c1 = NIBBLES_1(c1);
        c2 = NIBBLES_1(c2);
        c3 = NIBBLES_1(c3);
        ADD_ROUND_KEY(0);
        EXCHANGE_S0_S3();

        /* 1: half words, rotated to the left by 12, 8 and 4 */
        SUBCELLS();
        d0 = BYTE(d0, 4);
        d1 = BYTE(d1, 4);
        t = NIBBLES_OF(d0, d1);
        d1 = NIBBLES_OF(d1, d0);
        d0 = t;
        d2 = BYTE(d2, 4);
        d3 = BYTE(d3, 4);
        t = NIBBLES_OF(d2, d3);
        d3 = NIBBLES_OF(d3, d2);
        d2 = t;
        EXCHANGE(b0, b1);
        EXCHANGE(b2, b3);
        c0 = BYTE(c0, 4);
        c1 = BYTE(c1, 4);
        t = NIBBLES_OF(c1, c0);
        c1 = NIBBLES_OF(c0, c1);
        c0 = t;
        c2 = BYTE(c2, 4);
        c3 = BYTE(c3, 4);
        t = NIBBLES_OF(c3, c2);
        c3 = NIBBLES_OF(c2, c3);
        c2 = t;
        ADD_ROUND_KEY(1);
        EXCHANGE_S0_S3();

        /* 2: halves and pairs */
        SUBCELLS();
        t = PAIRS(d0);
        d0 = d2;
        d2 = t;
        t = PAIRS(d1);
        d1 = d3;
        d3 = t;
        b0 = PAIRS(b0);
        b1 = PAIRS(b1);
        b2 = PAIRS(b2);
        b3 = PAIRS(b3);
        t = PAIRS(c2);
        c2 = c0;
        c0 = t;
        t = PAIRS(c3);
        c3 = c1;
        c1 = t;
        ADD_ROUND_KEY(2);
        EXCHANGE_S0_S3();

        /* 3: bytes, rotated to the left by 2, 4 and 6 */
        SUBCELLS();
        d0 = BYTE(d0, 2);
        d1 = BYTE(d1, 2);
        d2 = BYTE(d2, 2);
        d3 = BYTE(d3, 2);
        b0 = BYTE(b0, 4);
        b1 = BYTE(b1, 4);
        b2 = BYTE(b2, 4);
        b3 = BYTE(b3, 4);
        c0 = BYTE(c0, 6);
        c1 = BYTE(c1, 6);
        c2 = BYTE(c2, 6);
        c3 = BYTE(c3, 6);
        ADD_ROUND_KEY(3);
        EXCHANGE_S0_S3();

        /* 4: words, rotated to the left by 8, 16 and 24 */
        SUBCELLS();
        t = d3;
        d3 = d2;
        d2 = d1;
        d1 = d0;
        d0 = t;
        EXCHANGE(b0, b2);
        EXCHANGE(b1, b3);
        t = c0;
        c0 = c1;
        c1 = c2;
        c2 = c3;
        c3 = t;
        ADD_ROUND_KEY(4);
        EXCHANGE_S0_S3();
        k += 40;
    }

    y[0] = a3;
    y[1] = a2;
    y[2] = a1;
    y[3] = a0;
    y[4] = b3;
    y[5] = b2;
    y[6] = b1;
    y[7] = b0;
    y[8] = c3;
    y[9] = c2;
    y[10] = c1;
    y[11] = c0;
    y[12] = d3;
    y[13] = d2;
    y[14] = d1;
    y[15] = d0;
}

#else

/* Moves to the left by n under the mask, and to the right by m elsewhere. */
#define MOVE(x, mask, n, m)                                                  \
    (((x) & (mask)) << (n) | ((x) >> (m) & ~((mask) << (n))))

/* SubCells: the new S_0 is s3, the new S_3 is s0.  l0, l1 and l2 are what is
 * left of PermBits. */
#define ROUND(s0, s1, s2, s3, l0, l1, l2, r)                                 \
    do {                                                                     \
        GIFT128_SUBCELLS(uint32_t, s0, s1, s2, s3);                          \
        s3 = l0(s3);                                                         \
        s1 = l1(s1);                                                         \
        s2 = l2(s2);                                                         \
        s2 ^= rk[2 * (r)];                                                   \
        s1 ^= rk[2 * (r) + 1];                                               \
        s0 ^= p[r];                                                          \
    } while (0)

#define NIBBLES_1(x) MOVE(x, 0x77777777u, 1, 3)
#define NIBBLES_2(x) MOVE(x, 0x33333333u, 2, 2)
#define NIBBLES_3(x) MOVE(x, 0x11111111u, 3, 1)
#define HALVES_4(x) MOVE(x, 0x0fff0fffu, 4, 12)
#define HALVES_8(x) MOVE(x, 0x00ff00ffu, 8, 8)
#define HALVES_12(x) MOVE(x, 0x000f000fu, 12, 4)
#define PAIRS(x) MOVE(x, 0x55555555u, 1, 1)
#define HIGH_PAIRS(x) (((x) & 0xffffu) | ((x) & 0x55550000u) << 1 |          \
                       ((x) >> 1 & 0x55550000u))
#define LOW_PAIRS(x) (((x) & 0xffff0000u) | ((x) & 0x5555u) << 1 |           \
                      ((x) >> 1 & 0x5555u))
#define PAIRS_0(x) HIGH_PAIRS(ROTATE_LEFT(x, 16))
#define PAIRS_2(x) LOW_PAIRS(ROTATE_LEFT(x, 16))
#define BYTES_2(x) MOVE(x, 0x3f3f3f3fu, 2, 6)
#define BYTES_4(x) MOVE(x, 0x0f0f0f0fu, 4, 4)
#define BYTES_6(x) MOVE(x, 0x03030303u, 6, 2)
#define WORD_8(x) ROTATE_LEFT(x, 8)
#define WORD_16(x) ROTATE_LEFT(x, 16)
#define WORD_24(x) ROTATE_LEFT(x, 24)

void gift128_encrypt(const gift128_key *key, uint8_t *y)
{
    uint32_t s0 = GIFT128_LOAD32(y), s1 = GIFT128_LOAD32(y + 4);
    uint32_t s2 = GIFT128_LOAD32(y + 8), s3 = GIFT128_LOAD32(y + 12);
    const uint32_t *rk = key->rk;
    const uint32_t *p;

    for (p = constants; p != constants + 40; p += 5) {
        uint32_t t;

        ROUND(s0, s1, s2, s3, NIBBLES_3, NIBBLES_2, NIBBLES_1, 0);
        ROUND(s3, s1, s2, s0, HALVES_12, HALVES_8, HALVES_4, 1);
        ROUND(s0, s1, s2, s3, PAIRS_0, PAIRS, PAIRS_2, 2);
        ROUND(s3, s1, s2, s0, BYTES_2, BYTES_4, BYTES_6, 3);
        ROUND(s0, s1, s2, s3, WORD_8, WORD_16, WORD_24, 4);
        t = s0;
        s0 = s3;
        s3 = t;
        rk += 10;
    }

    GIFT128_STORE32(y, s0);
    GIFT128_STORE32(y + 4, s1);
    GIFT128_STORE32(y + 8, s2);
    GIFT128_STORE32(y + 12, s3);
}

#endif
