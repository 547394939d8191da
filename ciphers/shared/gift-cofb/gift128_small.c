/*
 * GIFT-128, small: round by round as specified, the key state updated on the
 * way.
 */
#include "gift128.h"

void gift128_set_key(gift128_key *key, const uint8_t *k)
{
    key->k = k;
}

static uint16_t rotate_right(uint16_t w, uint8_t n)
{
    return (uint16_t)(w >> n | w << (16 - n));
}

/* c_5 .. c_0 of the round constants */
static uint8_t next_constant(uint8_t c)
{
    return (uint8_t)((c << 1 & 0x3f) | (((c >> 5 ^ c >> 4) & 1) ^ 1));
}

/*
 * PermBits.  Table 2.2 sends bit 4b + c of S_i to bit b of byte i - c modulo
 * 4, so that the permutation of S_i is that of S_0, rotated by i bytes.
 */
#if defined(__AVR__)

/* byte by byte; the first byte of a slice is its byte 3 */
static void permute_bits(uint8_t *s, uint8_t i)
{
    uint8_t byte0 = 0, byte1 = 0, byte2 = 0, byte3 = 0, n;
    uint8_t x = 0;

    for (n = 0; n < 8; n++) {
        if ((n & 1) == 0)
            x = s[3 - n / 2];
        byte0 = (uint8_t)(byte0 >> 1 | x << 7);
        x >>= 1;
        byte3 = (uint8_t)(byte3 >> 1 | x << 7);
        x >>= 1;
        byte2 = (uint8_t)(byte2 >> 1 | x << 7);
        x >>= 1;
        byte1 = (uint8_t)(byte1 >> 1 | x << 7);
        x >>= 1;
    }
    s[3 - i] = byte0;
    s[3 - ((i + 1) & 3)] = byte1;
    s[3 - ((i + 2) & 3)] = byte2;
    s[3 - ((i + 3) & 3)] = byte3;
}

void gift128_encrypt(const gift128_key *key, uint8_t *y)
{
    uint8_t k[16]; /* W_0 .. W_7 */
    uint8_t constant = 0, i, round;

    for (i = 0; i < 16; i++)
        k[i] = key->k[i];

    for (round = 0; round < 40; round++) {
        uint16_t w6, w7;

        for (i = 0; i < 4; i++) {
            uint8_t s0 = y[i], s1 = y[4 + i], s2 = y[8 + i], s3 = y[12 + i];

            GIFT128_SUBCELLS(uint8_t, s0, s1, s2, s3);
            y[i] = s3;
            y[4 + i] = s1;
            y[8 + i] = s2;
            y[12 + i] = s0;
        }
        for (i = 0; i < 4; i++)
            permute_bits(y + 4 * i, i);

        /* AddRoundKey: U = W_2 || W_3, V = W_6 || W_7 */
        for (i = 0; i < 4; i++) {
            y[8 + i] ^= k[4 + i];
            y[4 + i] ^= k[12 + i];
        }
        constant = next_constant(constant);
        y[12] ^= 0x80;
        y[15] ^= constant;

        /* key state update */
        w6 = rotate_right((uint16_t)(k[12] << 8 | k[13]), 2);
        w7 = rotate_right((uint16_t)(k[14] << 8 | k[15]), 12);
        for (i = 15; i > 3; i--)
            k[i] = k[i - 4];
        k[0] = (uint8_t)(w6 >> 8);
        k[1] = (uint8_t)w6;
        k[2] = (uint8_t)(w7 >> 8);
        k[3] = (uint8_t)w7;
    }
}

#else

/* Exchanges the bits under the mask with those n places above. */
#define SWAPMOVE(x, mask, n)                                                 \
    do {                                                                     \
        uint32_t t = ((x) ^ (x) >> (n)) & (mask);                            \
                                                                             \
        (x) ^= t ^ t << (n);                                                 \
    } while (0)

static uint32_t permute_bits(uint32_t s, uint8_t i)
{
    /* four exchanges of index bits: the permutation of S_3 */
    SWAPMOVE(s, 0x0000aaaau, 15);
    SWAPMOVE(s, 0x0a0a0a0au, 3);
    SWAPMOVE(s, 0x00cc00ccu, 6);
    SWAPMOVE(s, 0x000000ffu, 24);
    i = (uint8_t)(8 * (3 - i));
    return s >> i | s << ((32 - i) & 31);
}

void gift128_encrypt(const gift128_key *key, uint8_t *y)
{
    uint32_t s0 = GIFT128_LOAD32(y), s1 = GIFT128_LOAD32(y + 4);
    uint32_t s2 = GIFT128_LOAD32(y + 8), s3 = GIFT128_LOAD32(y + 12);
    uint16_t w[8];
    uint8_t constant = 0, i, round;

    for (i = 0; i < 8; i++)
        w[i] = (uint16_t)(key->k[2 * i] << 8 | key->k[2 * i + 1]);

    for (round = 0; round < 40; round++) {
        uint32_t t;
        uint16_t w6, w7;

        GIFT128_SUBCELLS(uint32_t, s0, s1, s2, s3);
        t = s0;
        s0 = permute_bits(s3, 0);
        s1 = permute_bits(s1, 1);
        s2 = permute_bits(s2, 2);
        s3 = permute_bits(t, 3);

        /* AddRoundKey: U = W_2 || W_3, V = W_6 || W_7 */
        s2 ^= (uint32_t)w[2] << 16 | w[3];
        s1 ^= (uint32_t)w[6] << 16 | w[7];
        constant = next_constant(constant);
        s3 ^= 0x80000000u ^ constant;

        /* key state update */
        w6 = rotate_right(w[6], 2);
        w7 = rotate_right(w[7], 12);
        for (i = 7; i > 1; i--)
            w[i] = w[i - 2];
        w[0] = w6;
        w[1] = w7;
    }

    GIFT128_STORE32(y, s0);
    GIFT128_STORE32(y + 4, s1);
    GIFT128_STORE32(y + 8, s2);
    GIFT128_STORE32(y + 12, s3);
}

#endif
