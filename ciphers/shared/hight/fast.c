/*
 * HIGHT with two bytes in a word: X0 and X4, X1 and X5, X2 and X6, X3 and X7,
 * which a round treats alike, but that it moves X7 to X0 and X3 to X4. The
 * other byte of each half is 0.
 * On AVR, which has words of a byte, ref is faster; it has no cache either.
 */
#if defined(__AVR__)
#include "bytewise.h"
#else

#include "bytes.h"

#define ROUNDS 32
#define LANES 0x00FF00FFu

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
    uint8_t delta = 0x5a, i, j;

    for (i = 0; i < 8; i++)
        c->wk[i] = k[(19 - i) & 15];
    for (i = 0; i < ROUNDS; i++) {
        uint8_t sk[4];

        for (j = 0; j < 4; j++) {
            uint8_t n = (uint8_t)(4 * (i & 1) + j - i / 4) & 7;

            sk[j] = (uint8_t)(k[15 - n - 4 * (i & 2)] + delta);
            delta = (uint8_t)(delta >> 1 | ((delta ^ delta >> 3) & 1) << 6);
        }
        c->k[i][0] = PAIR(sk[0], sk[2]);
        c->k[i][1] = PAIR(sk[1], sk[3]);
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
