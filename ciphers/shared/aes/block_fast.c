/*
 * AES with tables. 32-bit machines look up columns of SubBytes and MixColumns
 * in tables of 1 KiB (Daemen and Rijmen, AES Proposal: Rijndael, 5.2.1), one
 * for each direction; what the other rows need are rotations. Decryption is
 * the equivalent inverse cipher (FIPS 197, 5.3.5). Time depends on data where
 * memory has a cache.
 * AVR, which has words of a byte and no cache, is faster with ref.
 */
#if defined(__AVR__)
#include "bytewise.h"
#else

#include "bytes.h"

#include "block_sbox.h"
#include "block_tables.h"

#define ROUNDS (6 + CRYPTO_KEYBYTES / 4)
#define WORDS (CRYPTO_KEYBYTES / 4)
#define TURNS ((4 * (ROUNDS + 1) - 1) / WORDS) /* of the key expansion */

typedef struct {
    uint32_t w[4 * (ROUNDS + 1)];
} context;
CONTEXT(context);

#define BYTE(x, n) ((uint8_t)((x) >> (8 * (n))))

static inline uint32_t rotl(uint32_t x, uint8_t n)
{
    return x << n | x >> (32 - n);
}

/* A word whose bytes are those of a, b, c and d, substituted. */
#define BYTES(box, a, b, c, d)                                               \
    ((uint32_t)ENTRY8(box[BYTE(a, 0)]) |                                     \
     (uint32_t)ENTRY8(box[BYTE(b, 1)]) << 8 |                                \
     (uint32_t)ENTRY8(box[BYTE(c, 2)]) << 16 |                               \
     (uint32_t)ENTRY8(box[BYTE(d, 3)]) << 24)
#define COLUMN(box, a, b, c, d)                                              \
    (ENTRY32(box[BYTE(a, 0)]) ^ rotl(ENTRY32(box[BYTE(b, 1)]), 8) ^          \
     rotl(ENTRY32(box[BYTE(c, 2)]), 16) ^                                    \
     rotl(ENTRY32(box[BYTE(d, 3)]), 24))

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    uint32_t *w = ((context *)ctx)->w;
    uint8_t rcon = 1, i, j;

    for (i = 0; i < WORDS; i++)
        w[i] = load32le(k + 4 * i);
    for (i = 1; i <= TURNS; i++, w += WORDS) {
        uint32_t t = rotl(w[WORDS - 1], 24);

        t = BYTES(sbox, t, t, t, t) ^ rcon;
        rcon = (uint8_t)((uint8_t)(rcon << 1) ^ (rcon >> 7) * 0x1b);
        for (j = 0; j < WORDS; j++) {
            if (j == 4 && i == TURNS)
                break; /* the last turn makes four words */
            if (WORDS > 6 && j == 4)
                t = BYTES(sbox, t, t, t, t);
            t ^= w[j];
            w[WORDS + j] = t;
        }
    }
    return 0;
}

/* 2 x for the four bytes of x. */
static uint32_t xtime4(uint32_t x)
{
    uint32_t high = x & 0x80808080;

    return (x ^ high) << 1 ^ (high >> 7) * 0x1b;
}

/* InvMixColumns of a column: MixColumns of x + 4 (x + x rotated by two). */
static uint32_t inverse_mix(uint32_t x)
{
    uint32_t t = xtime4(xtime4(x ^ rotl(x, 16)));

    x ^= t;
    t = x ^ rotl(x, 24);
    return xtime4(t) ^ rotl(x, 24) ^ rotl(t, 16);
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    uint32_t *w = ((context *)ctx)->w;
    uint8_t i;

    crypto_block_encrypt_schedule(ctx, k);
    for (i = 4; i < 4 * ROUNDS; i++)
        w[i] = inverse_mix(w[i]);
    return 0;
}

static void load(uint32_t *s, const uint8_t *in, const uint32_t *w)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        s[i] = load32le(in + 4 * i) ^ w[i];
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint32_t *w = ((const context *)ctx)->w;
    uint32_t s[4], a, b, c, d;
    uint8_t i;

    load(s, in, w);
    a = s[0], b = s[1], c = s[2], d = s[3];
    for (i = 1; i < ROUNDS; i++) {
        uint32_t p, q, r;

        w += 4;
        p = COLUMN(mixed, a, b, c, d) ^ w[0];
        q = COLUMN(mixed, b, c, d, a) ^ w[1];
        r = COLUMN(mixed, c, d, a, b) ^ w[2];
        d = COLUMN(mixed, d, a, b, c) ^ w[3];
        a = p, b = q, c = r;
    }
    store32le(out, BYTES(sbox, a, b, c, d) ^ w[4]);
    store32le(out + 4, BYTES(sbox, b, c, d, a) ^ w[5]);
    store32le(out + 8, BYTES(sbox, c, d, a, b) ^ w[6]);
    store32le(out + 12, BYTES(sbox, d, a, b, c) ^ w[7]);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint32_t *w = ((const context *)ctx)->w + 4 * ROUNDS;
    uint32_t s[4], a, b, c, d;
    uint8_t i;

    load(s, in, w);
    a = s[0], b = s[1], c = s[2], d = s[3];
    for (i = 1; i < ROUNDS; i++) {
        uint32_t p, q, r;

        w -= 4;
        p = COLUMN(inverse_mixed, a, d, c, b) ^ w[0];
        q = COLUMN(inverse_mixed, b, a, d, c) ^ w[1];
        r = COLUMN(inverse_mixed, c, b, a, d) ^ w[2];
        d = COLUMN(inverse_mixed, d, c, b, a) ^ w[3];
        a = p, b = q, c = r;
    }
    w -= 4;
    store32le(out, BYTES(inverse_sbox, a, d, c, b) ^ w[0]);
    store32le(out + 4, BYTES(inverse_sbox, b, a, d, c) ^ w[1]);
    store32le(out + 8, BYTES(inverse_sbox, c, b, a, d) ^ w[2]);
    store32le(out + 12, BYTES(inverse_sbox, d, c, b, a) ^ w[3]);
    return 0;
}

#endif
