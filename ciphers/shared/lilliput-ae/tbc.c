/*
 * Lilliput-TBC, in constant time: the S-box is evaluated as a Boolean circuit
 * on the eight bytes that a round substitutes.
 */
#include "tbc.h"

#define TWEAK_LANES (TBC_TWEAK / TBC_LANE)
#define KEY_LANES (CRYPTO_KEYBYTES / TBC_LANE)

/*
 * S-box: three rounds of a Feistel scheme on the upper and the lower nibble,
 * with F(L), G(U) and F(L + 1).  Nibbles here are a + 2b + 4c + 8d.
 */

/* F: of degree 3 in this form, with a bent part in common */
#define ADD_F(a, b, c, d, y0, y1, y2, y3)                                    \
    do {                                                                     \
        slice p_ = a ^ (b & c), q_ = p_ ^ c, r_ = d & p_;                    \
                                                                             \
        y0 ^= (a & (b ^ c)) ^ (~b & (c ^ d)) ^ r_;                           \
        y1 ^= q_;                                                            \
        y2 ^= r_;                                                            \
        y3 ^= (a & b) ^ (d & q_);                                            \
    } while (0)

/* G: a quadratic function twice */
#define ADD_G(a, b, c, d, y0, y1, y2, y3)                                    \
    do {                                                                     \
        slice p_ = b ^ (a & d), q_ = c ^ (a & b);                            \
                                                                             \
        y0 ^= p_;                                                            \
        y1 ^= d ^ (p_ & q_);                                                 \
        y2 ^= q_;                                                            \
        y3 ^= a ^ (d & q_);                                                  \
    } while (0)

#define SBOX(x0, x1, x2, x3, x4, x5, x6, x7)                                 \
    do {                                                                     \
        ADD_F(x0, x1, x2, x3, x4, x5, x6, x7);                               \
        ADD_G(x4, x5, x6, x7, x0, x1, x2, x3);                               \
        x0 = ~x0;                                                            \
        ADD_F(x0, x1, x2, x3, x4, x5, x6, x7);                               \
        x0 = ~x0;                                                            \
    } while (0)

#if UINTPTR_MAX <= 0xFFFFF

/* Words of 8 and 16 bits */
typedef uint8_t slice;

#define SWAPMOVE(a, b, mask, n)                                              \
    do {                                                                     \
        uint8_t swap_ = (uint8_t)((a) >> (n) ^ (b)) & (mask);                \
                                                                             \
        (b) ^= swap_;                                                        \
        (a) ^= (uint8_t)(swap_ << (n));                                      \
    } while (0)

/* Bit i of byte j becomes bit j of byte i. */
static void __attribute__((noinline)) transpose(uint8_t *x)
{
    uint8_t i;

    for (i = 0; i < 8; i = (uint8_t)(i + 2))
        SWAPMOVE(x[i], x[i + 1], 0x55, 1);
    for (i = 0; i < 8; i = (uint8_t)(i + 4)) {
        SWAPMOVE(x[i], x[i + 2], 0x33, 2);
        SWAPMOVE(x[i + 1], x[i + 3], 0x33, 2);
    }
    for (i = 0; i < 4; i++)
        SWAPMOVE(x[i], x[i + 4], 0x0F, 4);
}

static void substitute(uint8_t *x)
{
    transpose(x);
    {
        uint8_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
        uint8_t x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];

        SBOX(x0, x1, x2, x3, x4, x5, x6, x7);
        x[0] = x0;
        x[1] = x1;
        x[2] = x2;
        x[3] = x3;
        x[4] = x4;
        x[5] = x5;
        x[6] = x6;
        x[7] = x7;
    }
    transpose(x);
}

/* x = M^n x; M moves bytes by one place and adds parts of three of them. */
static void multiply(uint8_t *x, uint8_t n)
{
    uint8_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    uint8_t x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];

    do {
        uint8_t t = x7;

        x7 = x6;
        x6 = x5;
        x5 = (uint8_t)(x5 << 3) ^ x4;
        x4 = x4 >> 3 ^ x3;
        x3 = x2;
        x2 = (uint8_t)(x7 << 2) ^ x1;
        x1 = x0;
        x0 = t;
    } while (--n != 0);
    x[0] = x0;
    x[1] = x1;
    x[2] = x2;
    x[3] = x3;
    x[4] = x4;
    x[5] = x5;
    x[6] = x6;
    x[7] = x7;
}

#else

/* Words of 32 bits, in which only the low byte of a slice is used */
typedef uint32_t slice;

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static void store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

/* Bit i of byte j becomes bit j of byte i. */
#define TRANSPOSE(x, y)                                                      \
    do {                                                                     \
        uint32_t t_;                                                         \
                                                                             \
        t_ = (x ^ x >> 7) & 0x00AA00AA;                                      \
        x ^= t_ ^ t_ << 7;                                                   \
        t_ = (y ^ y >> 7) & 0x00AA00AA;                                      \
        y ^= t_ ^ t_ << 7;                                                   \
        t_ = (x ^ x >> 14) & 0x0000CCCC;                                     \
        x ^= t_ ^ t_ << 14;                                                  \
        t_ = (y ^ y >> 14) & 0x0000CCCC;                                     \
        y ^= t_ ^ t_ << 14;                                                  \
        t_ = (x >> 4 ^ y) & 0x0F0F0F0F;                                      \
        y ^= t_;                                                             \
        x ^= t_ << 4;                                                        \
    } while (0)

static void substitute(uint8_t *p)
{
    uint32_t x = load32(p), y = load32(p + 4);

    TRANSPOSE(x, y);
    {
        uint32_t x0 = x, x1 = x >> 8, x2 = x >> 16, x3 = x >> 24;
        uint32_t x4 = y, x5 = y >> 8, x6 = y >> 16, x7 = y >> 24;

        SBOX(x0, x1, x2, x3, x4, x5, x6, x7);
        x = (x0 & 0xFF) | (x1 & 0xFF) << 8 | (x2 & 0xFF) << 16 | x3 << 24;
        y = (x4 & 0xFF) | (x5 & 0xFF) << 8 | (x6 & 0xFF) << 16 | x7 << 24;
    }
    TRANSPOSE(x, y);
    store32(p, x);
    store32(p + 4, y);
}

/* x = M^n x; M moves bytes by one place and adds parts of three of them. */
static void multiply(uint8_t *p, uint8_t n)
{
    uint32_t x = load32(p), y = load32(p + 4);

    do {
        uint32_t t = x;

        x = (x << 8 | y >> 24) ^ (y & 0x003F0000) << 2;
        y = (y << 8 | t >> 24) ^ (y & 0x00001F00) << 3 ^
            (y & 0x000000F8) >> 3;
    } while (--n != 0);
    store32(p, x);
    store32(p + 4, y);
}

#endif

/* x = M^-1 x */
static void divide(uint8_t *x)
{
    uint8_t x0 = x[0];

    x[0] = x[1];
    x[1] = x[2] ^ (uint8_t)(x[7] << 2);
    x[2] = x[3];
    x[3] = x[4];
    x[4] = x[5] ^ (uint8_t)(x[6] << 3);
    x[3] ^= x[4] >> 3;
    x[5] = x[6];
    x[6] = x[7];
    x[7] = x0;
}

/* x = M_R x */
static void multiply_r(uint8_t *x)
{
    uint8_t x0 = x[0], x3 = x[3];

    x[0] = x[1];
    x[1] = x[2];
    x[2] = x3 ^ x[4] >> 3;
    x[3] = x[4];
    x[4] = x[5] ^ (uint8_t)(x[6] << 3);
    x[5] = x[6] ^ (uint8_t)(x3 << 2);
    x[6] = x[7];
    x[7] = x0;
}

/* Lane i of the tweakey, which is tweak and key, is multiplied with M, M^2,
 * M^3, M^4, M_R, M_R^2, M_R^3 for i = 0, ..., 6. */
static void update_key(uint8_t lanes[][TBC_LANE])
{
    uint8_t i, j;

    for (i = 0; i < KEY_LANES; i++) {
        uint8_t n = (uint8_t)(TWEAK_LANES + i);

        if (n < 4)
            multiply(lanes[i], n + 1);
        else
            for (j = 4; j <= n; j++)
                multiply_r(lanes[i]);
    }
}

static void update_tweak(uint8_t lanes[][TBC_LANE])
{
    uint8_t i;

    for (i = 0; i < TWEAK_LANES; i++)
        multiply(lanes[i], i + 1);
}

static void restore_tweak(uint8_t lanes[][TBC_LANE])
{
    uint8_t i, j;

    for (i = 0; i < TWEAK_LANES; i++)
        for (j = 0; j <= i; j++)
            divide(lanes[i]);
}

static void load_lanes(uint8_t lanes[][TBC_LANE], const uint8_t *x, uint8_t n)
{
    uint8_t i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < TBC_LANE; j++)
            lanes[i][j] = *x++;
}

void tbc_set_key(tbc_key *key, const uint8_t *k)
{
    uint8_t lanes[KEY_LANES][TBC_LANE], r, i, j;

    load_lanes(lanes, k, KEY_LANES);
    for (r = 0; r < TBC_ROUNDS; r++) {
        for (j = 0; j < TBC_LANE; j++) {
            uint8_t x = 0;

            for (i = 0; i < KEY_LANES; i++)
                x ^= lanes[i][j];
            key->rtk[r][j] = x;
        }
        key->rtk[r][0] ^= r; /* the round constant */
        update_key(lanes);
    }
}

/* Nonlinear and linear layer, together their own inverse, since they change
 * the second half of x by functions of the first. */
static void layers(uint8_t *x, const uint8_t *rtk,
                   uint8_t lanes[][TBC_LANE])
{
    uint8_t y[8], sum, i, j;

    for (j = 0; j < 8; j++) {
        sum = x[j] ^ rtk[j];
        for (i = 0; i < TWEAK_LANES; i++)
            sum ^= lanes[i][j];
        y[j] = sum;
    }
    substitute(y);
    x[8] ^= y[7];
    sum = y[0];
    for (j = 1; j < 7; j++) {
        x[15 - j] ^= y[j] ^ x[7];
        sum ^= x[j];
    }
    x[15] ^= sum ^ x[7];
}

/* The block permutation: byte i goes to pi(i) = 13, 9, 14, 8, 10, 11, 12, 15,
 * 4, 5, 3, 1, 2, 6, 0, 7.  These are its cycles. */
static void permute(uint8_t *x)
{
    uint8_t t = x[14];

    x[14] = x[2];
    x[2] = x[12];
    x[12] = x[6];
    x[6] = x[13];
    x[13] = x[0];
    x[0] = t;
    t = x[11];
    x[11] = x[5];
    x[5] = x[9];
    x[9] = x[1];
    x[1] = t;
    t = x[10];
    x[10] = x[4];
    x[4] = x[8];
    x[8] = x[3];
    x[3] = t;
    t = x[15];
    x[15] = x[7];
    x[7] = t;
}

static void permute_back(uint8_t *x)
{
    uint8_t t = x[0];

    x[0] = x[13];
    x[13] = x[6];
    x[6] = x[12];
    x[12] = x[2];
    x[2] = x[14];
    x[14] = t;
    t = x[1];
    x[1] = x[9];
    x[9] = x[5];
    x[5] = x[11];
    x[11] = t;
    t = x[3];
    x[3] = x[8];
    x[8] = x[4];
    x[4] = x[10];
    x[10] = t;
    t = x[15];
    x[15] = x[7];
    x[7] = t;
}

void tbc_encrypt(const tbc_key *key, const uint8_t *tweak, uint8_t *x)
{
    uint8_t lanes[TWEAK_LANES][TBC_LANE], r;

    load_lanes(lanes, tweak, TWEAK_LANES);
    for (r = 0;; r++) {
        layers(x, key->rtk[r], lanes);
        if (r == TBC_ROUNDS - 1)
            return;
        permute(x);
        update_tweak(lanes);
    }
}

/* For Lilliput-I, where a block is decrypted only after its tweak has served:
 * the tweakey schedule runs to its end and back. */
void tbc_decrypt(const tbc_key *key, const uint8_t *tweak, uint8_t *x)
{
    uint8_t lanes[TWEAK_LANES][TBC_LANE], r;

    load_lanes(lanes, tweak, TWEAK_LANES);
    for (r = 0; r < TBC_ROUNDS - 1; r++)
        update_tweak(lanes);
    for (;; r--) {
        layers(x, key->rtk[r], lanes);
        if (r == 0)
            return;
        permute_back(x);
        restore_tweak(lanes);
    }
}
