/*
 * SIMON (Beaulieu, Shors, Smith, Treatman-Clark, Weeks, Wingers, ePrint
 * 2013/404, section 3) as the paper describes it. Words have WORD_BITS bits;
 * bytes are in the order in which the paper prints them.
 */
#include "bytes.h"
#include "words.h"
#include "constants.h"

typedef struct {
    word k[ROUNDS];
} context;
CONTEXT(context);

static word f(word x)
{
    return (word)((rol(x, 1) & rol(x, 8)) ^ rol(x, 2));
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint64_t z = Z;
    uint8_t i;

    for (i = 0; i < KEY_WORDS; i++)
        c->k[i] = load(k + (KEY_WORDS - 1 - i) * WORD_BYTES);
    for (; i < ROUNDS; i++) {
        word t = ror(c->k[i - 1], 3);

        if (KEY_WORDS == 4)
            t ^= c->k[i - 3];
        t ^= ror(t, 1);
        /* ~k ^ t ^ z ^ 3 */
        c->k[i] = WORD(~c->k[i - KEY_WORDS] ^ t ^ (word)(z & 1) ^ 3);
        z = z >> 1 | (z & 1) << 61; /* its period is 62 */
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

    for (i = 0; i < ROUNDS; i++) {
        word t = x;

        x = (word)(y ^ f(x) ^ c->k[i]);
        y = t;
    }
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

    for (i = ROUNDS; i-- > 0;) {
        word t = y;

        y = (word)(x ^ f(y) ^ c->k[i]);
        x = t;
    }
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}
