/*
 * GIFT-128, small: round by round as specified, the key state updated on the
 * way.
 */
#include "gift128.h"

void gift128_set_key(gift128_key *key, const uint8_t *k)
{
    key->k = k;
}

/*
 * PermBits.  Table 2.2 sends bit 4b + c of S_i to bit b of byte i - c modulo
 * 4, so that the permutation of S_i is that of S_0, rotated by i bytes.
 */
#if defined(__AVR__)

static uint32_t permute_bits(uint32_t s, uint8_t i)
{
    uint8_t byte0 = 0, byte1 = 0, byte2 = 0, byte3 = 0, b;

    for (b = 0; b < 8; b++) {
        uint8_t nibble = (uint8_t)s;

        byte0 >>= 1;
        byte1 >>= 1;
        byte2 >>= 1;
        byte3 >>= 1;
        if (nibble & 1)
            byte0 |= 0x80;
        if (nibble & 2)
            byte3 |= 0x80;
        if (nibble & 4)
            byte2 |= 0x80;
        if (nibble & 8)
            byte1 |= 0x80;
        s >>= 4;
    }
    s = (uint32_t)byte0 | (uint32_t)byte1 << 8 | (uint32_t)byte2 << 16 |
        (uint32_t)byte3 << 24;
    while (i-- != 0)
        s = s << 8 | s >> 24;
    return s;
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

#endif

static uint16_t rotate_right(uint16_t w, uint8_t n)
{
    return (uint16_t)(w >> n | w << (16 - n));
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
        constant = (uint8_t)((constant << 1 & 0x3f) |
                             (((constant >> 5 ^ constant >> 4) & 1) ^ 1));
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
