/* For packages whose lwc_crypto_hash.c or .cpp holds the hash itself: the table type that such a
   file fills. The table is never read; the linker drops it. */
#ifndef STEELYARD_LWC_CRYPTO_HASH_H
#define STEELYARD_LWC_CRYPTO_HASH_H

#ifdef __cplusplus
extern "C" {
#endif

int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);

typedef struct {
    const char *variant_name;
    const char *impl_name;
    int DigestSize;
    int (*hash)(unsigned char *, const unsigned char *, unsigned long long);
} hash_ctx;

#ifdef __cplusplus
}
#endif
#endif
