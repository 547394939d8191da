/*
 * nocrypt: the baseline of every block cipher's measurement.
 *
 * This is no cipher: the context is a copy of the key, and an encrypted or
 * decrypted block is a copy of the block.  It exists so that the cost of the
 * harness and of moving the data can be measured and subtracted.
 */
#include <string.h>

#include "api.h"
#include "crypto_block.h"

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    memcpy(ctx, k, CRYPTO_KEYBYTES);
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    memcpy(ctx, k, CRYPTO_KEYBYTES);
    return 0;
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    (void)ctx;
    if (out != in)
        memcpy(out, in, CRYPTO_BLOCKBYTES);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    (void)ctx;
    if (out != in)
        memcpy(out, in, CRYPTO_BLOCKBYTES);
    return 0;
}
