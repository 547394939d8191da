/*
 * SHA-256 (FIPS 180-4).
 *
 * Sums of rotations are nested, so that fewer bits are rotated: with R(x, n)
 * for ROTR^n(x), R(x, a) + R(x, b) + R(x, c) = R(x + R(x + R(x, c - b),
 * b - a), a).
 */
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "crypto_hash.h"
#include "rotate32.h"

#if defined(__AVR__)

#include <avr/pgmspace.h>

#define CONSTANT_TABLE const uint32_t PROGMEM
#define CONSTANT(p) pgm_read_dword(p)

#else

#define CONSTANT_TABLE const uint32_t
#define CONSTANT(p) (*(p))

#endif

/* section 4.2.2 */
static CONSTANT_TABLE k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* section 4.1.2; Ch and Maj with an operation less */
static inline uint32_t ch(uint32_t x, uint32_t y, uint32_t z)
{
    return z ^ (x & (y ^ z));
}

static inline uint32_t maj(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) | (z & (x | y));
}

static inline uint32_t capital_sigma0(uint32_t x) /* 2, 13, 22 */
{
    uint32_t t = rotr32(x, 9) ^ x;

    t = rotr32(t, 11) ^ x;
    return rotr32(t, 2);
}

static inline uint32_t capital_sigma1(uint32_t x) /* 6, 11, 25 */
{
    uint32_t t = rotr32(x, 14) ^ x;

    t = rotr32(t, 5) ^ x;
    return rotr32(t, 6);
}

static inline uint32_t small_sigma0(uint32_t x) /* 7, 18, shift by 3 */
{
    uint32_t t = rotr32(x, 11) ^ x;

    return rotr32(t, 7) ^ x >> 3;
}

static inline uint32_t small_sigma1(uint32_t x) /* 17, 19, shift by 10 */
{
    uint32_t t = rotr32(x, 2) ^ x;

    return rotr32(t, 17) ^ x >> 10;
}

/* Instead of moving the words at the end of a round, rounds name them anew. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                     \
    do {                                                                     \
        h += capital_sigma1(e) + ch(e, f, g) + CONSTANT(&k[i + t]) +         \
             w[(i + t) & 15];                                                \
        d += h;                                                              \
        h += capital_sigma0(a) + maj(a, b, c);                               \
    } while (0)

/* section 6.2.2 */
static void compress(uint32_t *h, const uint8_t *block)
{
    uint32_t w[16], s[8];
    uint8_t i, j;

    for (i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
               (uint32_t)block[2] << 8 | (uint32_t)block[3];
        block += 4;
    }
    for (i = 0; i < 8; i++)
        s[i] = h[i];

    for (i = 0;; i = (uint8_t)(i + 8)) {
        ROUND(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], 0);
        ROUND(s[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6], 1);
        ROUND(s[6], s[7], s[0], s[1], s[2], s[3], s[4], s[5], 2);
        ROUND(s[5], s[6], s[7], s[0], s[1], s[2], s[3], s[4], 3);
        ROUND(s[4], s[5], s[6], s[7], s[0], s[1], s[2], s[3], 4);
        ROUND(s[3], s[4], s[5], s[6], s[7], s[0], s[1], s[2], 5);
        ROUND(s[2], s[3], s[4], s[5], s[6], s[7], s[0], s[1], 6);
        ROUND(s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[0], 7);
        if (i == 56)
            break;
        /* the words that rounds i + 16 to i + 23 need */
        for (j = i; j < i + 8; j++)
            w[j & 15] += small_sigma1(w[(j + 14) & 15]) + w[(j + 9) & 15] +
                         small_sigma0(w[(j + 1) & 15]);
    }
    for (i = 0; i < 8; i++)
        h[i] += s[i];
}

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    /* section 5.3.3 */
    uint32_t h[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    uint64_t bits = (uint64_t)inlen << 3;
    size_t len = (size_t)inlen;
    uint8_t block[64], i, j;

    for (; len >= 64; len -= 64) {
        compress(h, in);
        in += 64;
    }

    /* section 5.1.1 */
    for (i = 0; i < len; i++)
        block[i] = in[i];
    block[i++] = 0x80;
    if (i > 56) {
        while (i < 64)
            block[i++] = 0;
        compress(h, block);
        i = 0;
    }
    while (i < 56)
        block[i++] = 0;
    for (i = 64; i > 56; bits >>= 8)
        block[--i] = (uint8_t)bits;
    compress(h, block);

    for (i = 0; i < 8; i++)
        for (j = 0; j < 4; j++)
            *out++ = (uint8_t)(h[i] >> (24 - 8 * j));
    return 0;
}
