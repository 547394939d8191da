/*
 * LEA, four rounds at a time, so that words keep their places. A round of
 * LEA-128 has four different key words, which are kept once.
 */
#include "bytes.h"
#include "rotate32.h"
#include "delta.h"

#define ROUND_WORDS STEPS

typedef struct {
    uint32_t k[ROUNDS * ROUND_WORDS];
} context;
CONTEXT(context);

#if CRYPTO_KEYBYTES == 16 /* T0, T1, T2, T1, T3, T1 */
#define K3(k) (k)[1]
#define K4(k) (k)[3]
#define K5(k) (k)[1]
#else
#define K3(k) (k)[3]
#define K4(k) (k)[4]
#define K5(k) (k)[5]
#endif

/* One word of the schedule, t, with the constant that it takes next. */
#define STEP(t, n)                                                           \
    ((t) = rotl32((t) + d, n), d = rotl32(d, 1), *to++ = (t))

/* What is added in a round is a constant rotated by the round's number. */
#if CRYPTO_KEYBYTES == 32

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    uint32_t *to = ((context *)ctx)->k, t[8], c[8];
    uint8_t i, j;

    for (i = 0; i < 8; i++) {
        t[i] = load32le(k + 4 * i);
        c[i] = ENTRY32(delta[i]);
        for (j = 0; j < i; j++)
            c[i] = rotl32(c[i], 1);
    }
    for (i = 0, j = 0; i < ROUNDS; i++) {
        uint32_t d = c[i & 7];

        c[i & 7] = rotl32(d, 8);
        STEP(t[j], 1);
        STEP(t[j + 1], 3);
        j = (j + 2) & 7;
        STEP(t[j], 6);
        STEP(t[j + 1], 11);
        j = (j + 2) & 7;
        STEP(t[j], 13);
        STEP(t[j + 1], 17);
        j = (j + 2) & 7;
    }
    return 0;
}

#else

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    uint32_t *to = ((context *)ctx)->k, c[KEY_WORDS];
    uint32_t t0 = load32le(k), t1 = load32le(k + 4);
    uint32_t t2 = load32le(k + 8), t3 = load32le(k + 12);
#if CRYPTO_KEYBYTES == 24
    uint32_t t4 = load32le(k + 16), t5 = load32le(k + 20);
#endif
    uint8_t i, j;

    for (i = 0; i < KEY_WORDS; i++) {
        c[i] = ENTRY32(delta[i]);
        for (j = 0; j < i; j++)
            c[i] = rotl32(c[i], 1);
    }
    for (i = 0, j = 0; i < ROUNDS; i++) {
        uint32_t d = c[j];

        c[j] = rotl32(d, KEY_WORDS);
        j = j == KEY_WORDS - 1 ? 0 : (uint8_t)(j + 1);
        STEP(t0, 1);
        STEP(t1, 3);
        STEP(t2, 6);
        STEP(t3, 11);
#if CRYPTO_KEYBYTES == 24
        STEP(t4, 13);
        STEP(t5, 17);
#endif
    }
    return 0;
}

#endif

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

/* The word that keeps its value, a, is the first of the round. */
#define ROUND(a, b, c, d, k)                                                 \
    ((d) = rotr32(((c) ^ K4(k)) + ((d) ^ K5(k)), 3),                         \
     (c) = rotr32(((b) ^ (k)[2]) + ((c) ^ K3(k)), 5),                        \
     (b) = rotl32(((a) ^ (k)[0]) + ((b) ^ (k)[1]), 9))
#define INVERSE_ROUND(a, b, c, d, k)                                         \
    ((b) = (rotr32(b, 9) - ((a) ^ (k)[0])) ^ (k)[1],                         \
     (c) = (rotl32(c, 5) - ((b) ^ (k)[2])) ^ K3(k),                          \
     (d) = (rotl32(d, 3) - ((c) ^ K4(k))) ^ K5(k))

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint32_t *k = ((const context *)ctx)->k;
    uint32_t a = load32le(in), b = load32le(in + 4);
    uint32_t c = load32le(in + 8), d = load32le(in + 12);
    uint8_t i;

    for (i = 0; i < ROUNDS / 4; i++, k += 4 * ROUND_WORDS) {
        ROUND(a, b, c, d, k);
        ROUND(b, c, d, a, k + ROUND_WORDS);
        ROUND(c, d, a, b, k + 2 * ROUND_WORDS);
        ROUND(d, a, b, c, k + 3 * ROUND_WORDS);
    }
    store32le(out, a);
    store32le(out + 4, b);
    store32le(out + 8, c);
    store32le(out + 12, d);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint32_t *k = ((const context *)ctx)->k + ROUNDS * ROUND_WORDS;
    uint32_t a = load32le(in), b = load32le(in + 4);
    uint32_t c = load32le(in + 8), d = load32le(in + 12);
    uint8_t i;

    for (i = 0; i < ROUNDS / 4; i++) {
        k -= 4 * ROUND_WORDS;
        INVERSE_ROUND(d, a, b, c, k + 3 * ROUND_WORDS);
        INVERSE_ROUND(c, d, a, b, k + 2 * ROUND_WORDS);
        INVERSE_ROUND(b, c, d, a, k + ROUND_WORDS);
        INVERSE_ROUND(a, b, c, d, k);
    }
    store32le(out, a);
    store32le(out + 4, b);
    store32le(out + 8, c);
    store32le(out + 12, d);
    return 0;
}
