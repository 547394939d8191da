/*
 * AES-128-GCM (NIST SP 800-38D) of mbedTLS behind the NIST LWC API: 12-byte
 * nonce, 16-byte tag.
 */
#include <stdint.h>
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "mbedtls/aes.h"
#include "mbedtls/gcm.h"

#define TAGBYTES CRYPTO_ABYTES

/* The one object that mbedTLS allocates: the AES context of the cipher layer.
 * mbedTLS clears it before it gives it back. */
static mbedtls_aes_context aes;
static uint8_t aes_in_use;

void *aes128gcm_calloc(size_t n, size_t size)
{
    if (aes_in_use || n != 1 || size > sizeof aes)
        return NULL;
    aes_in_use = 1;
    memset(&aes, 0, sizeof aes);
    return &aes;
}

void aes128gcm_free(void *p)
{
    if (p != NULL)
        aes_in_use = 0;
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    mbedtls_gcm_context gcm;
    size_t len = (size_t)mlen;
    int error;

    (void)nsec;
    *clen = len + TAGBYTES;
    mbedtls_gcm_init(&gcm);
    error = mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, k,
                               8 * CRYPTO_KEYBYTES);
    if (error == 0)
        error = mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, len,
                                          npub, CRYPTO_NPUBBYTES, ad,
                                          (size_t)adlen, m, c, TAGBYTES,
                                          c + len);
    mbedtls_gcm_free(&gcm);
    return error == 0 ? 0 : -1;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    mbedtls_gcm_context gcm;
    size_t len = (size_t)clen;
    int error;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    mbedtls_gcm_init(&gcm);
    error = mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, k,
                               8 * CRYPTO_KEYBYTES);
    if (error == 0) /* clears the plaintext when the tag is wrong */
        error = mbedtls_gcm_auth_decrypt(&gcm, len, npub, CRYPTO_NPUBBYTES,
                                         ad, (size_t)adlen, c + len,
                                         TAGBYTES, c, m);
    mbedtls_gcm_free(&gcm);
    if (error != 0)
        return -1;
    *mlen = len;
    return 0;
}
