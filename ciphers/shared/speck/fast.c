/*
 * SPECK, four rounds at a time. Words of 24 and 48 bits are reduced once where
 * they are written.
 */
#include "bytes.h"
#include "words.h"
#include "rounds.h"
#include "rotations.h"

#define ALPHA (WORD_BITS == 16 ? 7 : 8)
#define BETA (WORD_BITS == 16 ? 2 : 3)

typedef struct {
    word k[ROUNDS];
} context;
CONTEXT(context);

#define ROUND(x, y, k)                                                       \
    ((x) = WORD((word)(RIGHT(x, ALPHA) + (y)) ^ (k)),                        \
     (y) = WORD(LEFT(y, BETA) ^ (x)))
#define INVERSE_ROUND(x, y, k)                                               \
    ((y) = (word)((y) ^ (x)), (y) = WORD(RIGHT(y, BETA)),                    \
     (x) = WORD((word)((x) ^ (k)) - (y)), (x) = WORD(LEFT(x, ALPHA)))

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    word *to = ((context *)ctx)->k;
    word y = load(k + (KEY_WORDS - 1) * WORD_BYTES);
    word l0 = load(k + (KEY_WORDS - 2) * WORD_BYTES);
#if CRYPTO_KEYBYTES > CRYPTO_BLOCKBYTES
    word l1 = load(k + (KEY_WORDS - 3) * WORD_BYTES);
#endif
#if CRYPTO_KEYBYTES == 2 * CRYPTO_BLOCKBYTES
    word l2 = load(k);
#endif
    uint8_t i = 0;

    for (;;) {
        *to++ = y;
        if (i == ROUNDS - 1)
            return 0;
        ROUND(l0, y, i);
        i++;
#if CRYPTO_KEYBYTES > CRYPTO_BLOCKBYTES
        *to++ = y;
        if (i == ROUNDS - 1)
            return 0;
        ROUND(l1, y, i);
        i++;
#endif
#if CRYPTO_KEYBYTES == 2 * CRYPTO_BLOCKBYTES
        *to++ = y;
        if (i == ROUNDS - 1)
            return 0;
        ROUND(l2, y, i);
        i++;
#endif
    }
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const word *k = ((const context *)ctx)->k;
    word x = load(in), y = load(in + WORD_BYTES);
    uint8_t i;

    for (i = 0; i < ROUNDS / 4; i++, k += 4) {
        ROUND(x, y, k[0]);
        ROUND(x, y, k[1]);
        ROUND(x, y, k[2]);
        ROUND(x, y, k[3]);
    }
    for (i = ROUNDS % 4; i > 0; i--, k++)
        ROUND(x, y, k[0]);
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const word *k = ((const context *)ctx)->k + ROUNDS;
    word x = load(in), y = load(in + WORD_BYTES);
    uint8_t i;

    for (i = 0; i < ROUNDS / 4; i++) {
        k -= 4;
        INVERSE_ROUND(x, y, k[3]);
        INVERSE_ROUND(x, y, k[2]);
        INVERSE_ROUND(x, y, k[1]);
        INVERSE_ROUND(x, y, k[0]);
    }
    for (i = ROUNDS % 4; i > 0; i--) {
        k--;
        INVERSE_ROUND(x, y, k[0]);
    }
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}
