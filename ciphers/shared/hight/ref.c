/*
 * HIGHT (Hong, Sung, Hong, Lim, Lee, Koo, Lee, Chang, Lee, Jeong, Kim, Kim,
 * Chee, CHES 2006) as the paper describes it. Bytes are in the order of the
 * paper: MK15 and P7 come first.
 */
#include "bytes.h"

#define ROUNDS 32

typedef struct {
    uint8_t wk[8], sk[4 * ROUNDS];
} context;
CONTEXT(context);

static uint8_t rol(uint8_t x, uint8_t n)
{
    return (uint8_t)((uint8_t)(x << n) | x >> (8 - n));
}

static uint8_t f0(uint8_t x)
{
    return rol(x, 1) ^ rol(x, 2) ^ rol(x, 7);
}

static uint8_t f1(uint8_t x)
{
    return rol(x, 3) ^ rol(x, 4) ^ rol(x, 6);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint8_t delta = 0x5a, i, j;

#define MK(n) k[15 - (n)]
    for (i = 0; i < 8; i++)
        c->wk[i] = MK((i + 12) % 16);
    for (i = 0; i < 8; i++) {
        for (j = 0; j < 16; j++) {
            c->sk[16 * i + j] = (uint8_t)(MK(((j - i) & 7) | (j & 8)) + delta);
            /* s(i + 6) = s(i + 2) + s(i - 1) of x^7 + x^3 + 1 */
            delta = (uint8_t)(delta >> 1 | ((delta ^ delta >> 3) & 1) << 6);
        }
    }
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint8_t x[8], i;

    for (i = 0; i < 8; i++)
        x[i] = in[7 - i];
    x[0] = (uint8_t)(x[0] + c->wk[0]);
    x[2] ^= c->wk[1];
    x[4] = (uint8_t)(x[4] + c->wk[2]);
    x[6] ^= c->wk[3];
    for (i = 0; i < ROUNDS; i++) {
        const uint8_t *k = c->sk + 4 * i;
        uint8_t last = x[7];

        x[7] = x[6];
        x[6] = (uint8_t)(x[5] + (f1(x[4]) ^ k[2]));
        x[5] = x[4];
        x[4] = x[3] ^ (uint8_t)(f0(x[2]) + k[1]);
        x[3] = x[2];
        x[2] = (uint8_t)(x[1] + (f1(x[0]) ^ k[0]));
        x[1] = x[0];
        x[0] = last ^ (uint8_t)(f0(x[7]) + k[3]);
    }
    out[7] = (uint8_t)(x[1] + c->wk[4]);
    out[6] = x[2];
    out[5] = x[3] ^ c->wk[5];
    out[4] = x[4];
    out[3] = (uint8_t)(x[5] + c->wk[6]);
    out[2] = x[6];
    out[1] = x[7] ^ c->wk[7];
    out[0] = x[0];
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint8_t x[8], i;

    x[1] = (uint8_t)(in[7] - c->wk[4]);
    x[2] = in[6];
    x[3] = in[5] ^ c->wk[5];
    x[4] = in[4];
    x[5] = (uint8_t)(in[3] - c->wk[6]);
    x[6] = in[2];
    x[7] = in[1] ^ c->wk[7];
    x[0] = in[0];
    for (i = ROUNDS; i-- > 0;) {
        const uint8_t *k = c->sk + 4 * i;
        uint8_t first = x[0];

        x[0] = x[1];
        x[1] = (uint8_t)(x[2] - (f1(x[0]) ^ k[0]));
        x[2] = x[3];
        x[3] = x[4] ^ (uint8_t)(f0(x[2]) + k[1]);
        x[4] = x[5];
        x[5] = (uint8_t)(x[6] - (f1(x[4]) ^ k[2]));
        x[6] = x[7];
        x[7] = first ^ (uint8_t)(f0(x[6]) + k[3]);
    }
    x[0] = (uint8_t)(x[0] - c->wk[0]);
    x[2] ^= c->wk[1];
    x[4] = (uint8_t)(x[4] - c->wk[2]);
    x[6] ^= c->wk[3];
    for (i = 0; i < 8; i++)
        out[7 - i] = x[i];
    return 0;
}
