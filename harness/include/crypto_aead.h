/* The NIST lightweight API for authenticated encryption, which is SUPERCOP's, for packages that do not ship it. */
#ifndef STEELYARD_CRYPTO_AEAD_H
#define STEELYARD_CRYPTO_AEAD_H
#ifdef __cplusplus
extern "C" {
#endif
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen, const unsigned char *nsec,
                        const unsigned char *npub, const unsigned char *k);
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec, const unsigned char *c,
                        unsigned long long clen, const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k);
#ifdef __cplusplus
}
#endif
/* SUPERCOP's names for what api.h defines; its packages need not include that themselves */
#if !defined(CRYPTO_ABYTES) && defined(__has_include)
#if __has_include("api.h")
#include "api.h"
#endif
#endif
#define crypto_aead_KEYBYTES CRYPTO_KEYBYTES
#define crypto_aead_NSECBYTES CRYPTO_NSECBYTES
#define crypto_aead_NPUBBYTES CRYPTO_NPUBBYTES
#define crypto_aead_ABYTES CRYPTO_ABYTES
#define crypto_aead_NOOVERLAP CRYPTO_NOOVERLAP
#define crypto_aead_VERSION CRYPTO_VERSION
#endif
