/*
 * nocrypt: the baseline of every block cipher's measurement.
 *
 * This is no cipher: the context is a copy of the key, and an encrypted or
 * decrypted block is a copy of the block.  It exists so that the cost of the
 * harness and of moving the data can be measured and subtracted.  Block ciphers
 * are small, so it has one copy of all that it does.
 */
#include <string.h>

#include "api.h"
#include "crypto_block.h"

static __attribute__((noinline)) int copy(unsigned char *to, const unsigned char *from, size_t size)
{
    if (to != from)
        memcpy(to, from, size);
    return 0;
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return copy(ctx, k, CRYPTO_KEYBYTES);
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return copy(ctx, k, CRYPTO_KEYBYTES);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    (void)ctx;
    return copy(out, in, CRYPTO_BLOCKBYTES);
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx)
{
    (void)ctx;
    return copy(out, in, CRYPTO_BLOCKBYTES);
}
