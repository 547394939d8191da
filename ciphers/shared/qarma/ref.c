/*
 * QARMA-64 (Avanzi, ToSC 2017/1, ePrint 2016/444) as the paper describes it,
 * cell by cell; cell 0 is the highest nibble of the first byte. The key is
 * w0 || k0, and the tweak follows it. Time depends on data where memory has a
 * cache.
 */
#include "bytes.h"
#include "params.h"
#include "constants.h"

typedef struct {
    uint64_t w0, w1, k0, k1, tweak;
} context;
CONTEXT(context);

#if SIGMA == 0
static const uint8_t box[16] = { 0, 14, 2, 10, 9, 15, 8, 11,
                                 6, 4, 3, 7, 13, 12, 1, 5 };
#define inverse_box box
#elif SIGMA == 1
static const uint8_t box[16] = { 10, 13, 14, 6, 15, 7, 3, 5,
                                 9, 8, 0, 12, 11, 1, 2, 4 };
#define inverse_box box
#else
static const uint8_t box[16] = { 11, 6, 8, 15, 12, 0, 9, 14,
                                 3, 7, 4, 5, 13, 2, 1, 10 };
static const uint8_t inverse_box[16] = { 5, 14, 13, 8, 10, 11, 1, 9,
                                         2, 6, 15, 0, 4, 12, 7, 3 };
#endif

static const uint8_t tau[16] = { 0, 11, 6, 13, 10, 1, 12, 7,
                                 5, 14, 3, 8, 15, 4, 9, 2 };
static const uint8_t h[16] = { 6, 5, 14, 15, 0, 1, 2, 3,
                               7, 12, 13, 4, 8, 9, 10, 11 };
/* cells of the tweak that omega changes */
static const uint8_t omega[7] = { 0, 1, 3, 4, 8, 11, 13 };

static uint8_t cell(uint64_t s, uint8_t i)
{
    return (uint8_t)(s >> (60 - 4 * i)) & 15;
}

static uint64_t at(uint8_t x, uint8_t i)
{
    return (uint64_t)x << (60 - 4 * i);
}

static uint64_t substitute(const uint8_t *by, uint64_t s)
{
    uint64_t y = 0;
    uint8_t i;

    for (i = 0; i < 16; i++)
        y |= at(by[cell(s, i)], i);
    return y;
}

static uint64_t shuffle(const uint8_t *by, uint64_t s)
{
    uint64_t y = 0;
    uint8_t i;

    for (i = 0; i < 16; i++)
        y |= at(cell(s, by[i]), i);
    return y;
}

static uint64_t inverse_shuffle(const uint8_t *by, uint64_t s)
{
    uint64_t y = 0;
    uint8_t i;

    for (i = 0; i < 16; i++)
        y |= at(cell(s, i), by[i]);
    return y;
}

/* rho: by n bits to the left */
static uint8_t rho(uint8_t x, uint8_t n)
{
    return (uint8_t)(x << n | x >> (4 - n)) & 15;
}

/* circ(0, rho, rho^2, rho), its own inverse */
static uint64_t mix(uint64_t s)
{
    uint64_t y = 0;
    uint8_t i;

    for (i = 0; i < 16; i++)
        y |= at(rho(cell(s, (i + 4) & 15), 1) ^ rho(cell(s, (i + 8) & 15), 2) ^
                    rho(cell(s, (i + 12) & 15), 1),
                i);
    return y;
}

static uint64_t next_tweak(uint64_t t)
{
    uint8_t i;

    t = shuffle(h, t);
    for (i = 0; i < 7; i++) {
        uint8_t x = cell(t, omega[i]);

        t ^= at(x ^ (uint8_t)(x >> 1 | ((x ^ x >> 1) & 1) << 3), omega[i]);
    }
    return t;
}

static uint64_t previous_tweak(uint64_t t)
{
    uint8_t i;

    for (i = 0; i < 7; i++) {
        uint8_t x = cell(t, omega[i]);

        t ^= at(x ^ (uint8_t)((x << 1 & 15) | ((x ^ x >> 3) & 1)), omega[i]);
    }
    return inverse_shuffle(h, t);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;

    c->w0 = load64be(k);
    c->w1 = (c->w0 >> 1 | c->w0 << 63) ^ c->w0 >> 63;
    c->k0 = load64be(k + 8);
    c->k1 = c->k0;
    c->tweak = load64be(k + 16);
    return 0;
}

/* Decryption is encryption with other keys (section 2.4). */
int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint64_t t;

    crypto_block_encrypt_schedule(ctx, k);
    t = c->w0;
    c->w0 = c->w1;
    c->w1 = t;
    c->k1 = mix(c->k0);
    c->k0 ^= ALPHA;
    return 0;
}

static uint64_t forward(uint64_t s, uint64_t tweakey, uint8_t full)
{
    s ^= tweakey;
    if (full)
        s = mix(shuffle(tau, s));
    return substitute(box, s);
}

static uint64_t backward(uint64_t s, uint64_t tweakey, uint8_t full)
{
    s = substitute(inverse_box, s);
    if (full)
        s = inverse_shuffle(tau, mix(s));
    return s ^ tweakey;
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint64_t s = load64be(in) ^ c->w0, t = c->tweak;
    uint8_t i;

    for (i = 0; i < R; i++) {
        s = forward(s, c->k0 ^ t ^ constant[i], i != 0);
        t = next_tweak(t);
    }
    s = forward(s, c->w1 ^ t, 1);
    s = inverse_shuffle(tau, mix(shuffle(tau, s)) ^ c->k1);
    s = backward(s, c->w0 ^ t, 1);
    for (i = R; i-- > 0;) {
        t = previous_tweak(t);
        s = backward(s, c->k0 ^ t ^ constant[i] ^ ALPHA, i != 0);
    }
    store64be(out, s ^ c->w1);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    return crypto_block_encrypt(out, in, ctx);
}
