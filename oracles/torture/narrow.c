/* Arithmetic in 8 and 16 bits: wrap-around, saturation by hand, multiplication, carries, logic with single
 * bits, and the loops that ciphers are made of. */
#include "torture.h"

static NOINLINE uint8_t times(uint8_t a, uint8_t b)
{
    uint8_t r = 0;
    for (; b != 0; b >>= 1) {
        if (b & 1)
            r ^= a;
        a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1B : 0));
    }
    return r;
}

static NOINLINE int16_t saturate(int16_t a, int16_t b)
{
    int32_t s = (int32_t)a + b;
    return (int16_t)(s > 32767 ? 32767 : s < -32768 ? -32768 : s);
}

static NOINLINE uint16_t crc(uint16_t sum, uint8_t byte)
{
    sum ^= (uint16_t)((uint16_t)byte << 8);
    for (uint8_t i = 0; i < 8; i++)
        sum = (uint16_t)(sum & 0x8000u ? (unsigned)sum << 1 ^ 0x1021u : (unsigned)sum << 1);
    return sum;
}

uint32_t narrow(void)
{
    uint32_t sum = 12;
    uint16_t check = 0xFFFF;
    uint8_t bits[4] = {0, 0, 0, 0};
    for (uint8_t i = 0; i < 20; i++) {
        uint8_t x = (uint8_t)(i * 29u + 3u), y = (uint8_t)~(x >> 1);
        sum = mix(sum, times(x, y));
        sum = mix(sum, (uint16_t)saturate((int16_t)(x * 250u), (int16_t)-(int16_t)(y * 120u)));
        sum = mix(sum, (uint32_t)(uint16_t)((unsigned)x * y) + (uint32_t)((int8_t)x * (int8_t)y));
        sum = mix(sum, (uint32_t)((int32_t)(int16_t)((unsigned)x << 8) * (int16_t)(y - 300)));
        check = crc(check, x);
        bits[i & 3] |= (uint8_t)(1u << (x & 7));
        bits[x & 3] &= (uint8_t)~(1u << (i & 7));
        bits[y & 3] ^= (uint8_t)(bits[0] << 4 | bits[0] >> 4);
        if (bits[2] & 0x10)
            sum++;
        sum = mix(sum, (uint32_t)__builtin_popcount(x) + (uint32_t)__builtin_clz((unsigned)x | 1u) % 16u);
    }
    return mix(sum, check | (uint32_t)bits[1] << 16 | (uint32_t)bits[3] << 24);
}
