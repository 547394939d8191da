/*
 * Block ciphers, one block a call. A context has CRYPTO_CONTEXTBYTES bytes and an address that is a multiple of 8; keys
 * and blocks have any address, and out may be in. A context is plain data: a copy at another address serves as well, and
 * nothing else outlasts a schedule. It serves the direction whose schedule filled it, any number of times. Nothing that
 * is const is written, not even to be restored. All return 0.
 */
#ifndef STEELYARD_CRYPTO_BLOCK_H
#define STEELYARD_CRYPTO_BLOCK_H
#ifdef __cplusplus
extern "C" {
#endif
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k);
int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k);
int crypto_block_encrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx);
int crypto_block_decrypt(unsigned char *out, const unsigned char *in, const unsigned char *ctx);
#ifdef __cplusplus
}
#endif
#endif
