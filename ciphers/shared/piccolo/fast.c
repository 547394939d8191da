/*
 * Piccolo without tables, in constant time: both functions F at once, X0 and
 * X2, X1 and X3 a word of slices each.
 * On AVR, which has words of a byte, ref is faster; it has no cache either.
 */
#if defined(__AVR__)
#include "bytewise.h"
#else

#include "slices8.h"
#include "circuit.h"
#include "keys.h"

typedef struct {
    uint32_t white[2], rk[ROUNDS];
} context;
CONTEXT(context);

/* Words a and c to one of slices, b and d to another: byte n has nibble n of
 * both. */
static void to_slices(uint32_t *even, uint32_t *odd, const uint16_t *x)
{
    uint8_t t[8], i;

    for (i = 0; i < 4; i++) {
        uint8_t at = (uint8_t)(12 - 4 * i);

        t[i] = (uint8_t)((x[0] >> at & 15) << 4 | (x[1] >> at & 15));
        t[4 + i] = (uint8_t)((x[2] >> at & 15) << 4 | (x[3] >> at & 15));
    }
    *odd = load32le(t);
    *even = load32le(t + 4);
    TRANSPOSE(*odd, *even);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint16_t x[4] = { 0, 0, 0, 0 };
    uint32_t none;
    keys all;
    uint8_t i;

    expand(&all, k);
    for (i = 0; i < 2; i++) {
        x[0] = all.white[2 * i];
        x[2] = all.white[2 * i + 1];
        to_slices(&c->white[i], &none, x);
    }
    for (i = 0; i < ROUNDS; i++) {
        x[1] = all.rk[i][0];
        x[3] = all.rk[i][1];
        to_slices(&none, &c->rk[i], x);
    }
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

static inline uint32_t substitute(uint32_t w)
{
    slice x[4];

    SPLIT(x, w);
    sbox(x);
    return JOIN(x);
}

/* Nibble n becomes 2 n + 3 next + the other two: 2 s + next + s two further,
 * where s = n + next. */
static inline uint32_t mix(uint32_t x)
{
    uint32_t next = (x >> 1 & 0x77777777) | (x & 0x11111111) << 3;
    uint32_t s = x ^ next, top = s >> 24;

    next ^= (s >> 2 & 0x33333333) | (s & 0x33333333) << 2;
    return next ^ s << 8 ^ top ^ top << 8;
}

static inline uint32_t f(uint32_t x)
{
    return substitute(mix(substitute(x)));
}

static void load(uint32_t *even, uint32_t *odd, const uint8_t *in)
{
    uint16_t x[4];
    uint8_t i;

    for (i = 0; i < 4; i++)
        x[i] = LOAD16BE(in + 2 * i);
    to_slices(even, odd, x);
}

static void store(uint8_t *out, uint32_t even, uint32_t odd)
{
    uint8_t i;

    TRANSPOSE(odd, even);
    for (i = 0; i < 2; i++) {
        uint32_t t = i == 0 ? odd : even;

        out[4 * i] = (uint8_t)((t & 0xF0) | (t >> 12 & 0x0F));
        out[4 * i + 1] = (uint8_t)((t >> 16 & 0xF0) | (t >> 28));
        out[4 * i + 2] = (uint8_t)((t << 4 & 0xF0) | (t >> 8 & 0x0F));
        out[4 * i + 3] = (uint8_t)((t >> 12 & 0xF0) | (t >> 24 & 0x0F));
    }
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t even, odd;
    uint8_t i;

    load(&even, &odd, in);
    even ^= c->white[0];
    for (i = 0; i < ROUNDS - 1; i++) {
        uint32_t t = even;

        /* RP: the words change places, and bytes in them */
        even = odd ^ f(t) ^ c->rk[i];
        odd = t;
        SWAP(even, 0x0C0C0C0C, 4);
        SWAP(odd, 0x03030303, 4);
    }
    odd ^= f(even) ^ c->rk[ROUNDS - 1];
    store(out, even ^ c->white[1], odd);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t even, odd;
    uint8_t i;

    load(&even, &odd, in);
    even ^= c->white[1];
    odd ^= f(even) ^ c->rk[ROUNDS - 1];
    for (i = ROUNDS - 1; i-- > 0;) {
        uint32_t t = even;

        even = odd;
        SWAP(even, 0x03030303, 4);
        SWAP(t, 0x0C0C0C0C, 4);
        odd = t ^ f(even) ^ c->rk[i];
    }
    store(out, even ^ c->white[0], odd);
    return 0;
}

#endif
