/*
 * LEA (Hong, Lee, Kim, Kwon, Ryu, Lee, WISA 2013; KS X 3246) as the paper
 * describes it: words of 32 bits, the least significant byte first.
 */
#include "bytes.h"
#include "rotate32.h"
#include "delta.h"

typedef struct {
    uint32_t k[ROUNDS][6];
} context;
CONTEXT(context);

/* n may be 0 */
static uint32_t rotate_by(uint32_t x, uint8_t n)
{
    for (n &= 31; n > 0; n--)
        x = rotl32(x, 1);
    return x;
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    static const uint8_t by[6] = { 1, 3, 6, 11, 13, 17 };
    context *c = (context *)ctx;
    uint32_t t[KEY_WORDS];
    uint8_t i, j;

    for (j = 0; j < KEY_WORDS; j++)
        t[j] = load32le(k + 4 * j);
    for (i = 0; i < ROUNDS; i++) {
        uint32_t d = ENTRY32(delta[i % KEY_WORDS]);

        for (j = 0; j < STEPS; j++) {
            uint32_t *x = &t[KEY_WORDS == 8 ? (6 * i + j) % 8 : j];

            *x = rotate_by(*x + rotate_by(d, (uint8_t)(i + j)), by[j]);
            c->k[i][j] = *x;
        }
        if (KEY_WORDS == 4) { /* T0, T1, T2, T1, T3, T1 */
            c->k[i][3] = c->k[i][5] = t[1];
            c->k[i][4] = t[3];
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
    uint32_t x[4];
    uint8_t i;

    for (i = 0; i < 4; i++)
        x[i] = load32le(in + 4 * i);
    for (i = 0; i < ROUNDS; i++) {
        const uint32_t *k = c->k[i];
        uint32_t first = x[0];

        x[0] = rotl32((x[0] ^ k[0]) + (x[1] ^ k[1]), 9);
        x[1] = rotr32((x[1] ^ k[2]) + (x[2] ^ k[3]), 5);
        x[2] = rotr32((x[2] ^ k[4]) + (x[3] ^ k[5]), 3);
        x[3] = first;
    }
    for (i = 0; i < 4; i++)
        store32le(out + 4 * i, x[i]);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t x[4];
    uint8_t i;

    for (i = 0; i < 4; i++)
        x[i] = load32le(in + 4 * i);
    for (i = ROUNDS; i-- > 0;) {
        const uint32_t *k = c->k[i];
        uint32_t first = x[3];
        uint32_t second = (rotr32(x[0], 9) - (first ^ k[0])) ^ k[1];
        uint32_t third = (rotl32(x[1], 5) - (second ^ k[2])) ^ k[3];

        x[3] = (rotl32(x[2], 3) - (third ^ k[4])) ^ k[5];
        x[2] = third;
        x[1] = second;
        x[0] = first;
    }
    for (i = 0; i < 4; i++)
        store32le(out + 4 * i, x[i]);
    return 0;
}
