/* OpenSSL's AES of single blocks. The functions are linked where a package has none of its own: harness/provided/. */
#ifndef STEELYARD_OPENSSL_AES_H
#define STEELYARD_OPENSSL_AES_H
#include <stddef.h>
#include <stdint.h>
#define AES_ENCRYPT 1
#define AES_DECRYPT 0
#define AES_MAXNR 14
#define AES_BLOCK_SIZE 16
#ifdef __cplusplus
extern "C" {
#endif
/* Round keys are bit-sliced, their words are not FIPS 197's. */
struct aes_key_st {
#if defined(__SIZEOF_INT__) && __SIZEOF_INT__ == 4
    unsigned int rd_key[4 * (AES_MAXNR + 1)];
#else
    uint32_t rd_key[4 * (AES_MAXNR + 1)];
#endif
    int rounds;
};
typedef struct aes_key_st AES_KEY;
/* bits: 128, 192 or 256; 0, -1 where a pointer is NULL, -2 for other sizes */
int AES_set_encrypt_key(const unsigned char *userKey, const int bits, AES_KEY *key);
int AES_set_decrypt_key(const unsigned char *userKey, const int bits, AES_KEY *key);
/* 16 bytes; out may be in */
void AES_encrypt(const unsigned char *in, unsigned char *out, const AES_KEY *key);
void AES_decrypt(const unsigned char *in, unsigned char *out, const AES_KEY *key);
#ifdef __cplusplus
}
#endif
#endif
