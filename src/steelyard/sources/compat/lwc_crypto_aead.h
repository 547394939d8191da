/* For packages whose lwc_crypto_aead.c or .cpp holds the cipher's entry points itself:
   the table type that such a file fills. The table is never read; the linker drops it. */
#ifndef STEELYARD_LWC_CRYPTO_AEAD_H
#define STEELYARD_LWC_CRYPTO_AEAD_H

#ifdef __cplusplus
extern "C" {
#endif

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub, const unsigned char *k);
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *npub, const unsigned char *k);

typedef struct {
    const char *variant_name;
    const char *impl_name;
    int KeyBytes;
    int NonceBytes;
    int ABytes;
    int (*encrypt)(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long,
                   const unsigned char *, unsigned long long, const unsigned char *,
                   const unsigned char *, const unsigned char *);
    int (*decrypt)(unsigned char *, unsigned long long *, unsigned char *, const unsigned char *,
                   unsigned long long, const unsigned char *, unsigned long long,
                   const unsigned char *, const unsigned char *);
} aead_ctx;

#ifdef __cplusplus
}
#endif
#endif
