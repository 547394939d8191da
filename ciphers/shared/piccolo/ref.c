/*
 * Piccolo as the paper describes it. Time depends on data where memory has a
 * cache.
 */
#include "bytes.h"
#include "keys.h"

typedef keys context;
CONTEXT(context);

static const uint8_t box[16] = { 0xE, 4, 0xB, 2, 3, 8, 0, 9,
                                 1, 0xA, 7, 0xF, 6, 0xC, 5, 0xD };

/* 2 x modulo x^4 + x + 1, by a mask: a condition can become a branch. */
static uint8_t two(uint8_t x)
{
    return (uint8_t)((x << 1 & 15) ^ (3 & -(x >> 3)));
}

/* S-boxes, the matrix, S-boxes. */
static uint16_t f(uint16_t x)
{
    uint8_t n[4], i;
    uint16_t y = 0;

    for (i = 0; i < 4; i++)
        n[i] = box[x >> (12 - 4 * i) & 15];
    for (i = 0; i < 4; i++) {
        uint8_t next = n[(i + 1) & 3];

        y = (uint16_t)((uint16_t)(y << 4) |
                       box[two(n[i]) ^ two(next) ^ next ^ n[(i + 2) & 3] ^
                           n[(i + 3) & 3]]);
    }
    return y;
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    expand((context *)ctx, k);
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    expand((context *)ctx, k);
    return 0;
}

static void feistel(uint16_t *x, const uint16_t *rk)
{
    x[1] ^= f(x[0]) ^ rk[0];
    x[3] ^= f(x[2]) ^ rk[1];
}

static void load(uint16_t *x, const uint8_t *in, const uint16_t *white)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        x[i] = LOAD16BE(in + 2 * i);
    x[0] ^= white[0];
    x[2] ^= white[1];
}

static void store(uint8_t *out, uint16_t *x, const uint16_t *white)
{
    uint8_t i;

    x[0] ^= white[0];
    x[2] ^= white[1];
    for (i = 0; i < 4; i++)
        STORE16BE(out + 2 * i, x[i]);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint16_t x[4];
    uint8_t i;

    load(x, in, c->white);
    for (i = 0;; i++) {
        uint16_t first = x[0], third = x[2];

        feistel(x, c->rk[i]);
        if (i == ROUNDS - 1)
            break;
        /* RP on bytes: 2 7 4 1 6 3 0 5 */
        x[0] = BYTES_OF(x[1], x[3]);
        x[2] = BYTES_OF(x[3], x[1]);
        x[1] = BYTES_OF(third, first);
        x[3] = BYTES_OF(first, third);
    }
    store(out, x, c->white + 2);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint16_t x[4];
    uint8_t i;

    load(x, in, c->white + 2);
    for (i = ROUNDS - 1;; i--) {
        uint16_t second, fourth;

        feistel(x, c->rk[i]);
        if (i == 0)
            break;
        second = BYTES_OF(x[0], x[2]);
        fourth = BYTES_OF(x[2], x[0]);
        x[0] = BYTES_OF(x[3], x[1]);
        x[2] = BYTES_OF(x[1], x[3]);
        x[1] = second;
        x[3] = fourth;
    }
    store(out, x, c->white);
    return 0;
}
