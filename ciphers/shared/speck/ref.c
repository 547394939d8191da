/*
 * SPECK (Beaulieu, Shors, Smith, Treatman-Clark, Weeks, Wingers, ePrint
 * 2013/404, section 4) as the paper describes it. Words have WORD_BITS bits;
 * bytes are in the order in which the paper prints them.
 */
#include "bytes.h"
#include "words.h"
#include "rounds.h"

#define ALPHA (WORD_BITS == 16 ? 7 : 8)
#define BETA (WORD_BITS == 16 ? 2 : 3)

typedef struct {
    word k[ROUNDS];
} context;
CONTEXT(context);

/* (S^-alpha x + y) ^ k, S^beta y ^ the former */
static void round_(word *x, word *y, word k)
{
    *x = (word)(WORD(ror(*x, ALPHA) + *y) ^ k);
    *y = (word)(rol(*y, BETA) ^ *x);
}

static void inverse_round(word *x, word *y, word k)
{
    *y = ror((word)(*x ^ *y), BETA);
    *x = rol(WORD((word)(*x ^ k) - *y), ALPHA);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    word l[KEY_WORDS];
    uint8_t i, j;

    /* l[m-2] .. l[0], k[0] */
    c->k[0] = load(k + (KEY_WORDS - 1) * WORD_BYTES);
    for (i = 0; i < KEY_WORDS - 1; i++)
        l[i] = load(k + (KEY_WORDS - 2 - i) * WORD_BYTES);
    for (i = 0, j = 0; i < ROUNDS - 1; i++) {
        word y = c->k[i];

        round_(&l[j], &y, i);
        c->k[i + 1] = y;
        j = j == KEY_WORDS - 2 ? 0 : (uint8_t)(j + 1);
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
    const context *c = (const context *)ctx;
    word x = load(in), y = load(in + WORD_BYTES);
    uint8_t i;

    for (i = 0; i < ROUNDS; i++)
        round_(&x, &y, c->k[i]);
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    word x = load(in), y = load(in + WORD_BYTES);
    uint8_t i;

    for (i = ROUNDS; i-- > 0;)
        inverse_round(&x, &y, c->k[i]);
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}
