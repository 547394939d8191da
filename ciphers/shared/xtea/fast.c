/*
 * XTEA with the sums of key words and constants in the context, two cycles at
 * a time.
 */
#include "bytes.h"

#define CYCLES 32
#define DELTA 0x9e3779b9u

typedef struct {
    uint32_t k[2 * CYCLES];
} context;
CONTEXT(context);

/* v << 4 ^ v >> 5 */
static inline uint32_t mix(uint32_t v)
{
#if defined(__AVR__)
    /* cores that shift by one bit only: v >> 5 is v << 3, a byte below */
    uint32_t three = v << 3;

    return three << 1 ^ (three >> 8 | (v >> 24 & 0xE0) << 19);
#else
    return v << 4 ^ v >> 5;
#endif
}

#define F(v, k) ((mix(v) + (v)) ^ (k))

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    uint32_t *to = ((context *)ctx)->k, key[4], sum = 0;
    uint8_t i;

    for (i = 0; i < 4; i++)
        key[i] = load32be(k + 4 * i);
    for (i = 0; i < CYCLES; i++) {
        *to++ = sum + key[(uint8_t)sum & 3];
        sum += DELTA;
        *to++ = sum + key[(uint8_t)(sum >> 8) >> 3 & 3];
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
    const uint32_t *k = ((const context *)ctx)->k;
    uint32_t y = load32be(in), z = load32be(in + 4);
    uint8_t i;

    for (i = 0; i < CYCLES / 2; i++, k += 4) {
        y += F(z, k[0]);
        z += F(y, k[1]);
        y += F(z, k[2]);
        z += F(y, k[3]);
    }
    store32be(out, y);
    store32be(out + 4, z);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint32_t *k = ((const context *)ctx)->k + 2 * CYCLES;
    uint32_t y = load32be(in), z = load32be(in + 4);
    uint8_t i;

    for (i = 0; i < CYCLES / 2; i++) {
        k -= 4;
        z -= F(y, k[3]);
        y -= F(z, k[2]);
        z -= F(y, k[1]);
        y -= F(z, k[0]);
    }
    store32be(out, y);
    store32be(out + 4, z);
    return 0;
}
