/* crypto_block around two crypto_core functions, which take no constant and have no schedule apart: these are in no
 * figure. */
#include "api.h"
#include "crypto_block.h"

typedef int core_fn(unsigned char *, const unsigned char *, const unsigned char *, const unsigned char *);
extern core_fn crypto_core_encrypt, crypto_core_decrypt;

static int copy(unsigned char *ctx, const unsigned char *k)
{
    unsigned i;
    for (i = 0; i < CRYPTO_KEYBYTES; i++)
        ctx[i] = k[i];
    return 0;
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return copy(ctx, k);
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return copy(ctx, k);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    return crypto_core_encrypt(out, in, ctx, 0);
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    return crypto_core_decrypt(out, in, ctx, 0);
}
