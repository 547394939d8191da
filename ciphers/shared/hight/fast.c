/*
 * HIGHT with two bytes in a word: X0 and X4, X1 and X5, X2 and X6, X3 and X7,
 * which a round treats alike, but that it moves X7 to X0 and X3 to X4. The
 * other byte of each half is 0.
 * On AVR, which has words of a byte, ref is faster.
 */
#if defined(__AVR__)
#include "bytewise.h"
#else

#include "bytes.h"

#define ROUNDS 32
#define LANES 0x00FF00FFu

/* What the key is added to: states of the paper's shift register, of each
 * round the first in the lowest byte. */
TABLE(uint32_t) delta[ROUNDS] = {
    0x1b366d5a, 0x4103060d, 0x4c183060, 0x2c593366, 0x4a152b56, 0x1c397265,
    0x7973674e, 0x376f5e3c, 0x0b162d5b, 0x50214205, 0x552a5428, 0x7d7a756a,
    0x172f5f3e, 0x2952254b, 0x62450a14, 0x766c5831, 0x470e1d3b, 0x7c787163,
    0x1f3f7f7e, 0x6143070f, 0x6e5c3870, 0x1e3d7b77, 0x6953274f, 0x264d1a34,
    0x12244913, 0x01020409, 0x08102040, 0x48112244, 0x0c193264, 0x68512346,
    0x2e5d3a74, 0x5a356b57
};

/* The keys of a round: SK0 and SK2, SK1 and SK3; and whitening keys. */
typedef struct {
    uint32_t k[ROUNDS][2];
    uint8_t wk[8];
} context;
CONTEXT(context);

static inline uint32_t f0(uint32_t x)
{
    uint32_t y = x << 8 | x; /* each byte twice */

    return (y >> 7 ^ y >> 6 ^ y >> 1) & LANES;
}

static inline uint32_t f1(uint32_t x)
{
    uint32_t y = x << 8 | x;

    return (y >> 5 ^ y >> 4 ^ y >> 2) & LANES;
}

#define SWAP(x) ((x) << 16 | (x) >> 16)
#define PAIR(x, y) ((uint32_t)(y) << 16 | (uint32_t)(x))

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint32_t pairs[2][8]; /* of both halves of the key: byte n, byte n + 2 */
    uint8_t i;

    for (i = 0; i < 8; i++) {
        c->wk[i] = k[(19 - i) & 15];
        pairs[0][i] = PAIR(k[15 - i], k[15 - ((i + 2) & 7)]);
        pairs[1][i] = PAIR(k[7 - i], k[7 - ((i + 2) & 7)]);
    }
    for (i = 0; i < ROUNDS; i++) {
        const uint32_t *half = pairs[i >> 1 & 1];
        uint8_t n = (uint8_t)(4 * (i & 1) - i / 4) & 7;
        uint32_t d = ENTRY32(delta[i]);

        c->k[i][0] = (half[n] + (d & LANES)) & LANES;
        c->k[i][1] = (half[(n + 1) & 7] + (d >> 8 & LANES)) & LANES;
    }
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

/* a, b, c, d to d, a, b, c: halves of the new a, in d, are exchanged. */
#define ROUND(a, b, c, d, k)                                                 \
    ((d) ^= (f0(c) + (k)[1]) & LANES, (d) = SWAP(d),                         \
     (b) = ((b) + (f1(a) ^ (k)[0])) & LANES)
#define INVERSE_ROUND(a, b, c, d, k)                                         \
    ((d) = SWAP(d), (d) ^= (f0(c) + (k)[1]) & LANES,                         \
     (b) = (((b) | 0x01000100u) - (f1(a) ^ (k)[0])) & LANES)

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *x = (const context *)ctx;
    const uint32_t (*k)[2] = x->k;
    const uint8_t *wk = x->wk;
    uint32_t a = PAIR((uint8_t)(in[7] + wk[0]), (uint8_t)(in[3] + wk[2]));
    uint32_t b = PAIR(in[6], in[2]), d = PAIR(in[4], in[0]);
    uint32_t c = PAIR(in[5] ^ wk[1], in[1] ^ wk[3]);
    uint8_t i;

    for (i = 0; i < ROUNDS / 4; i++, k += 4) {
        ROUND(a, b, c, d, k[0]);
        ROUND(d, a, b, c, k[1]);
        ROUND(c, d, a, b, k[2]);
        ROUND(b, c, d, a, k[3]);
    }
    out[7] = (uint8_t)((uint8_t)b + wk[4]);
    out[6] = (uint8_t)c;
    out[5] = (uint8_t)d ^ wk[5];
    out[4] = (uint8_t)(a >> 16);
    out[3] = (uint8_t)((uint8_t)(b >> 16) + wk[6]);
    out[2] = (uint8_t)(c >> 16);
    out[1] = (uint8_t)(d >> 16) ^ wk[7];
    out[0] = (uint8_t)a;
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *x = (const context *)ctx;
    const uint32_t (*k)[2] = x->k + ROUNDS;
    const uint8_t *wk = x->wk;
    uint32_t a = PAIR(in[0], in[4]), c = PAIR(in[6], in[2]);
    uint32_t b = PAIR((uint8_t)(in[7] - wk[4]), (uint8_t)(in[3] - wk[6]));
    uint32_t d = PAIR(in[5] ^ wk[5], in[1] ^ wk[7]);
    uint8_t i;

    for (i = 0; i < ROUNDS / 4; i++) {
        k -= 4;
        INVERSE_ROUND(b, c, d, a, k[3]);
        INVERSE_ROUND(c, d, a, b, k[2]);
        INVERSE_ROUND(d, a, b, c, k[1]);
        INVERSE_ROUND(a, b, c, d, k[0]);
    }
    out[7] = (uint8_t)((uint8_t)a - wk[0]);
    out[6] = (uint8_t)b;
    out[5] = (uint8_t)c ^ wk[1];
    out[4] = (uint8_t)d;
    out[3] = (uint8_t)((uint8_t)(a >> 16) - wk[2]);
    out[2] = (uint8_t)(b >> 16);
    out[1] = (uint8_t)(c >> 16) ^ wk[3];
    out[0] = (uint8_t)(d >> 16);
    return 0;
}

#endif
