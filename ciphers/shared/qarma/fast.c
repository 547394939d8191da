/*
 * QARMA-64 without tables for data, in constant time: all of it on slices, two
 * in a word. The schedule of the tweak is part of that of the key.
 */
#include "slices16.h"
#include "params.h"
#include "circuits.h"
#include "shuffles.h"
#include "sliced_constants.h"

typedef struct {
    uint32_t low, high;
} pair;

/* k0 with constants and tweaks of rounds, w1 and w0 with the last tweak */
typedef struct {
    pair tk[R], w0, w1, w1_tweak, w0_tweak, k1;
} context;
CONTEXT(context);

/* Rows are nibbles: a slice moves by rows, to the left. */
static inline uint32_t one_row(uint32_t x)
{
    return (x << 4 & 0xFFF0FFF0) | (x >> 12 & 0x000F000F);
}

static inline uint32_t two_rows(uint32_t x)
{
    return (x << 8 & 0xFF00FF00) | (x >> 8 & 0x00FF00FF);
}

/* circ(0, rho, rho^2, rho): slice b takes one and three rows further of slice
 * b - 1, and two rows further of slice b - 2. */
#define MIX(low, high)                                                       \
    do {                                                                     \
        uint32_t two_low_ = two_rows(low), two_high_ = two_rows(high);       \
        uint32_t odd_low_ = one_row((low) ^ two_low_);                       \
        uint32_t odd_high_ = one_row((high) ^ two_high_);                    \
                                                                             \
        (low) = (odd_low_ << 16 | odd_high_ >> 16) ^ two_high_;              \
        (high) = (odd_high_ << 16 | odd_low_ >> 16) ^ two_low_;              \
    } while (0)

static pair load(const uint8_t *p)
{
    pair x;

    x.high = load32be(p);
    x.low = load32be(p + 4);
    return x;
}

static pair sum(pair x, pair y)
{
    x.low ^= y.low;
    x.high ^= y.high;
    return x;
}

#define OMEGA 0xd894u /* cells that omega changes */

/* Bits 3 to 1 of a cell go to 2 to 0, and bit 3 becomes bit 0 + bit 1. */
static pair next_tweak(pair t)
{
    uint32_t low = TWEAK_SHUFFLE(t.low), high = TWEAK_SHUFFLE(t.high);
    uint32_t next_low = low >> 16 | high << 16;
    uint32_t next_high = high >> 16 | (low ^ low >> 16) << 16;

    t.low = low ^ ((low ^ next_low) & OMEGA * 0x10001u);
    t.high = high ^ ((high ^ next_high) & OMEGA * 0x10001u);
    return t;
}

static void schedule(context *c, const unsigned char *k, uint8_t decrypt)
{
    pair w = load(k), w0 = w, w1, k0 = load(k + 8), t = load(k + 16);
    uint8_t i;

    w1.low = (w.low >> 1 | w.high << 31) ^ w.high >> 31;
    w1.high = w.high >> 1 | w.low << 31;
    TO_SLICES(w0.low, w0.high);
    TO_SLICES(w1.low, w1.high);
    TO_SLICES(k0.low, k0.high);
    TO_SLICES(t.low, t.high);
    c->w0 = decrypt ? w1 : w0;
    c->w1 = decrypt ? w0 : w1;
    c->k1 = k0;
    if (decrypt) {
        MIX(c->k1.low, c->k1.high);
        k0.low ^= ALPHA_LOW;
        k0.high ^= ALPHA_HIGH;
    }
    for (i = 0; i < R; i++) {
        c->tk[i] = sum(k0, t);
        c->tk[i].low ^= ENTRY32(constant[i][0]);
        c->tk[i].high ^= ENTRY32(constant[i][1]);
        t = next_tweak(t);
    }
    c->w1_tweak = sum(c->w1, t);
    c->w0_tweak = sum(c->w0, t);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    schedule((context *)ctx, k, 0);
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    schedule((context *)ctx, k, 1);
    return 0;
}

#define ADD(key) (low ^= (key).low, high ^= (key).high)
#define SUBSTITUTE(box)                                                      \
    do {                                                                     \
        SPLIT(x, low, high);                                                 \
        box(x);                                                              \
        JOIN(x, low, high);                                                  \
    } while (0)
#define SHUFFLE_BOTH(by)                                                     \
    do {                                                                     \
        low = by(low);                                                       \
        high = by(high);                                                     \
    } while (0)

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t high = load32be(in), low = load32be(in + 4);
    slice x[4];
    uint8_t i;

    TO_SLICES(low, high);
    ADD(c->w0);
    ADD(c->tk[0]);
    SUBSTITUTE(sbox);
    /* the round with w1 is one more */
    for (i = 1; i <= R; i++) {
        const pair *k = i == R ? &c->w1_tweak : &c->tk[i];

        ADD(*k);
        SHUFFLE_BOTH(SHUFFLE);
        MIX(low, high);
        SUBSTITUTE(sbox);
    }
    SHUFFLE_BOTH(SHUFFLE);
    MIX(low, high);
    ADD(c->k1);
    SHUFFLE_BOTH(INVERSE_SHUFFLE);
    for (i = R; i > 0; i--) {
        SUBSTITUTE(inverse_sbox);
        MIX(low, high);
        SHUFFLE_BOTH(INVERSE_SHUFFLE);
        if (i == R) {
            ADD(c->w0_tweak);
        } else {
            ADD(c->tk[i]);
            low ^= ALPHA_LOW;
            high ^= ALPHA_HIGH;
        }
    }
    SUBSTITUTE(inverse_sbox);
    ADD(c->tk[0]);
    ADD(c->w1);
    low ^= ALPHA_LOW;
    high ^= ALPHA_HIGH;
    TO_NIBBLES(low, high);
    store32be(out, high);
    store32be(out + 4, low);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    return crypto_block_encrypt(out, in, ctx);
}
