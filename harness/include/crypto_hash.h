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
#define crypto_hash_BYTES CRYPTO_BYTES /* SUPERCOP's names, as in crypto_aead.h */
#define crypto_hash_VERSION CRYPTO_VERSION
#endif
