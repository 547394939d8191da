/*
 * nocrypt: the baseline of every AEAD measurement.
 *
 * It encrypts nothing and authenticates nothing: the ciphertext is a copy of
 * the plaintext and there is no tag.  It exists so that the cost of the
 * harness and of moving the data can be measured and subtracted.
 */
#include <stddef.h>
#include <string.h>

#include "api.h"
#include "crypto_aead.h"

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    (void)ad;
    (void)adlen;
    (void)nsec;
    (void)npub;
    (void)k;
    if (mlen != 0 && c != m)
        memcpy(c, m, (size_t)mlen);
    *clen = mlen + CRYPTO_ABYTES;
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    (void)nsec;
    (void)ad;
    (void)adlen;
    (void)npub;
    (void)k;
    if (clen != 0 && m != c)
        memcpy(m, c, (size_t)clen);
    *mlen = clen - CRYPTO_ABYTES;
    return 0;
}
