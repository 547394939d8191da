/*
 * PRINCE (Borghoff, Canteaut, Gueneysu, Kavun, Knezevic, Knudsen, Leander,
 * Nikov, Paar, Rechberger, Rombouts, Thomsen, Yalcin, ASIACRYPT 2012) as the
 * paper describes it: key k0 || k1, words with the most significant byte
 * first. Decryption is encryption with other keys (2.2). Time depends on data
 * where memory has a cache.
 */
#include "bytes.h"
#include "constants.h"

/* k0, k0' and k1, in the order and with the sum that the direction needs */
typedef struct {
    uint64_t before, behind, k1;
} context;
CONTEXT(context);

static const uint8_t box[16] = { 0xB, 0xF, 3, 2, 0xA, 0xC, 9, 1,
                                 6, 7, 8, 0, 0xE, 5, 0xD, 4 };
static const uint8_t inverse_box[16] = { 0xB, 7, 3, 2, 0xF, 0xD, 8, 9,
                                         0xA, 6, 4, 0, 5, 0xE, 0xC, 1 };

static uint64_t constant(uint8_t i)
{
    uint64_t x;

#if defined(__AVR__)
    memcpy_P(&x, &rc[i], 8);
#else
    x = rc[i];
#endif
    return x;
}

/* rc(i) + rc(11 - i) is alpha */
static uint64_t round_constant(uint8_t i)
{
    return i < 6 ? constant(i) : constant((uint8_t)(11 - i)) ^ constant(6);
}

static uint8_t nibble(uint64_t s, uint8_t i) /* 0 is the highest */
{
    return (uint8_t)(s >> (60 - 4 * i)) & 15;
}

static uint64_t substitute(const uint8_t *by, uint64_t s)
{
    uint64_t y = 0;
    uint8_t i;

    for (i = 0; i < 16; i++)
        y = y << 4 | by[nibble(s, i)];
    return y;
}

/* M': blocks M0, M1, M1, M0 of four by four matrices, of which m(i) drops
 * bit i of a nibble, bit 0 the highest. */
static uint64_t m_prime(uint64_t s)
{
    uint64_t y = 0;
    uint8_t i, j;

    for (i = 0; i < 16; i++) {
        uint8_t sum = 0, chunk = i & 12, more = chunk == 4 || chunk == 8;

        for (j = 0; j < 4; j++)
            sum ^= nibble(s, chunk + j) & ~(8 >> ((i + j + more) & 3));
        y = y << 4 | sum;
    }
    return y;
}

/* Nibble i comes from by * i mod 16; 5 is SR, 13 its inverse. */
static uint64_t shift_rows(uint64_t s, uint8_t by)
{
    uint64_t y = 0;
    uint8_t i;

    for (i = 0; i < 16; i++)
        y = y << 4 | nibble(s, by * i & 15);
    return y;
}

static void schedule(context *c, const unsigned char *k)
{
    c->before = load64be(k);
    c->behind = (c->before >> 1 | c->before << 63) ^ c->before >> 63;
    c->k1 = load64be(k + 8);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    schedule((context *)ctx, k);
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint64_t t;

    schedule(c, k);
    t = c->before;
    c->before = c->behind;
    c->behind = t;
    c->k1 ^= constant(6);
    return 0;
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint64_t s = load64be(in) ^ c->before ^ c->k1 ^ round_constant(0);
    uint8_t i;

    for (i = 1; i < 6; i++) {
        s = shift_rows(m_prime(substitute(box, s)), 5);
        s ^= c->k1 ^ round_constant(i);
    }
    s = substitute(inverse_box, m_prime(substitute(box, s)));
    for (; i < 11; i++) {
        s ^= c->k1 ^ round_constant(i);
        s = substitute(inverse_box, m_prime(shift_rows(s, 13)));
    }
    store64be(out, s ^ c->behind ^ c->k1 ^ round_constant(11));
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    return crypto_block_encrypt(out, in, ctx);
}
