/* The NIST lightweight API for hashing, for packages that do not ship it. */
#ifndef STEELYARD_CRYPTO_HASH_H
#define STEELYARD_CRYPTO_HASH_H
#ifdef __cplusplus
extern "C" {
#endif
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);
#ifdef __cplusplus
}
#endif
/* SUPERCOP's names, as in crypto_aead.h */
#if !defined(CRYPTO_BYTES) && defined(__has_include)
#if __has_include("api.h")
#include "api.h"
#endif
#endif
#define crypto_hash_BYTES CRYPTO_BYTES
#define crypto_hash_VERSION CRYPTO_VERSION
#endif
