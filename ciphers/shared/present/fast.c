/*
 * PRESENT without tables, in constant time. The bit permutation is the one
 * that gathers the bits of all nibbles in slices: it is done before the
 * S-boxes, which work on slices and leave them in the order of the paper.
 */
#include "slices16.h"
#include "circuits.h"

#define ROUNDS 31

typedef struct {
    uint32_t k[ROUNDS + 1][2];
} context;
CONTEXT(context);

/* The S-box on the nibbles of v, each in the low half of a byte. */
static uint8_t substitute(uint8_t v)
{
    slice x[4];

    x[0] = v & 0x11;
    x[1] = v >> 1 & 0x11;
    x[2] = v >> 2 & 0x11;
    x[3] = v >> 3 & 0x11;
    sbox(x);
    return (uint8_t)((x[0] & 0x11) | (x[1] & 0x11) << 1 |
                     (x[2] & 0x11) << 2 | (x[3] & 0x11) << 3);
}

#if CRYPTO_KEYBYTES == 10

/* Five words of 16 bits; by 61 to the left is by 16 and 3 to the right. */
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint16_t a = LOAD16BE(k + 8), b = LOAD16BE(k + 6), d = LOAD16BE(k + 4);
    uint16_t e = LOAD16BE(k + 2), f = LOAD16BE(k);
    uint8_t i;

    for (i = 1;; i++) {
        uint16_t t = b;

        c->k[i - 1][0] = (uint32_t)d << 16 | b;
        c->k[i - 1][1] = (uint32_t)f << 16 | e;
        if (i == ROUNDS + 1)
            return 0;
        b = (uint16_t)(d >> 3 | (uint16_t)(e << 13));
        d = (uint16_t)(e >> 3 | (uint16_t)(f << 13));
        e = (uint16_t)(f >> 3 | (uint16_t)(a << 13));
        f = (uint16_t)(a >> 3 | (uint16_t)(t << 13));
        a = (uint16_t)(t >> 3 | (uint16_t)(c->k[i - 1][0] >> 16 << 13));
        f = (uint16_t)((f & 0x0FFF) |
                       (uint16_t)((uint16_t)substitute((uint8_t)(f >> 12)) << 12));
        b ^= i >> 1;
        a ^= (uint16_t)((uint16_t)i << 15);
    }
}

#else

/* Four words; by 61 to the left is by 64 and 3 to the right. */
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint32_t a = load32be(k + 12), b = load32be(k + 8);
    uint32_t d = load32be(k + 4), e = load32be(k);
    uint8_t i;

    for (i = 1;; i++) {
        uint32_t p = d >> 3 | e << 29, q = e >> 3 | a << 29;

        c->k[i - 1][0] = d;
        c->k[i - 1][1] = e;
        if (i == ROUNDS + 1)
            return 0;
        e = b >> 3 | d << 29;
        d = a >> 3 | b << 29;
        a = p;
        b = q;
        e = (e & 0x00FFFFFF) | (uint32_t)substitute((uint8_t)(e >> 24)) << 24;
        d ^= i >> 2;
        b ^= (uint32_t)i << 30;
    }
}

#endif

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t high = load32be(in), low = load32be(in + 4);
    uint8_t i;

    for (i = 0; i < ROUNDS; i++) {
        slice x[4];

        low ^= c->k[i][0];
        high ^= c->k[i][1];
        TO_SLICES(low, high);
        SPLIT(x, low, high);
        sbox(x);
        JOIN(x, low, high);
    }
    store32be(out, high ^ c->k[ROUNDS][1]);
    store32be(out + 4, low ^ c->k[ROUNDS][0]);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t high = load32be(in) ^ c->k[ROUNDS][1];
    uint32_t low = load32be(in + 4) ^ c->k[ROUNDS][0];
    uint8_t i;

    for (i = ROUNDS; i-- > 0;) {
        slice x[4];

        SPLIT(x, low, high);
        inverse_sbox(x);
        JOIN(x, low, high);
        TO_NIBBLES(low, high);
        low ^= c->k[i][0];
        high ^= c->k[i][1];
    }
    store32be(out, high);
    store32be(out + 4, low);
    return 0;
}
