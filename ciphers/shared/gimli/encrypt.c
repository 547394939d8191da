/* Gimli-24-Cipher: Algorithms 5 and 6 of the specification. */
#include "api.h"
#include "crypto_aead.h"
#include "gimli.h"

/* Initialization and processing of associated data. */
static void start(gimli_state *g, const unsigned char *ad, size_t adlen,
                  const unsigned char *npub, const unsigned char *k)
{
    uint8_t i;

    for (i = 0; i < CRYPTO_NPUBBYTES; i++)
        GIMLI_BYTE(g, i) = npub[i];
    for (i = 0; i < CRYPTO_KEYBYTES; i++)
        GIMLI_BYTE(g, CRYPTO_NPUBBYTES + i) = k[i];
    gimli(g);
    gimli_process(g, NULL, ad, adlen, GIMLI_ABSORB);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    gimli_state g;
    size_t len = (size_t)mlen;
    uint8_t i;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    start(&g, ad, (size_t)adlen, npub, k);
    gimli_process(&g, c, m, len, GIMLI_ENCRYPT);
    for (i = 0; i < CRYPTO_ABYTES; i++)
        c[len + i] = GIMLI_BYTE(&g, i);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    gimli_state g;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    start(&g, ad, (size_t)adlen, npub, k);
    gimli_process(&g, m, c, len, GIMLI_DECRYPT);

    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(GIMLI_BYTE(&g, i) ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
