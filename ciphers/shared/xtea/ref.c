/*
 * XTEA (Needham and Wheeler, "Tea extensions", 1997): 32 cycles, words with
 * the most significant byte first. There is no key schedule.
 */
#include "bytes.h"

#define CYCLES 32
#define DELTA 0x9e3779b9u

typedef struct {
    uint32_t k[4];
} context;
CONTEXT(context);

/* What a half round adds. */
static uint32_t f(uint32_t v, uint32_t key)
{
    return ((v << 4 ^ v >> 5) + v) ^ key;
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint8_t i;

    for (i = 0; i < 4; i++)
        c->k[i] = load32be(k + 4 * i);
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
    uint32_t y = load32be(in), z = load32be(in + 4), sum = 0;
    uint8_t i;

    for (i = 0; i < CYCLES; i++) {
        y += f(z, sum + c->k[sum & 3]);
        sum += DELTA;
        z += f(y, sum + c->k[sum >> 11 & 3]);
    }
    store32be(out, y);
    store32be(out + 4, z);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t y = load32be(in), z = load32be(in + 4), sum = DELTA * CYCLES;
    uint8_t i;

    for (i = 0; i < CYCLES; i++) {
        z -= f(y, sum + c->k[sum >> 11 & 3]);
        sum -= DELTA;
        y -= f(z, sum + c->k[sum & 3]);
    }
    store32be(out, y);
    store32be(out + 4, z);
    return 0;
}
