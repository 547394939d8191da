/* Subterranean-SAE: Algorithm 4 of the specification, tags of 128 bits. */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "subterranean.h"

enum { KEYED, ENCRYPT, DECRYPT };

/* absorb(X, op): the last block is shorter than 32 bits, empty if need be. */
static void absorb(subterranean *s, unsigned char *y, const unsigned char *x,
                   size_t len, uint8_t op)
{
    uint8_t i;

    for (;;) {
        uint8_t n = (uint8_t)(len < 4 ? len : 4);
        uint8_t sigma[4];

        if (op != KEYED)
            subterranean_extract(s, sigma);
        for (i = 0; i < n; i++) {
            uint8_t b = x[i];

            if (op != KEYED) {
                uint8_t temp = b ^ sigma[i];

                y[i] = temp;
                if (op == DECRYPT)
                    b = temp;
            }
            sigma[i] = b;
        }
        subterranean_duplex(s, sigma, n);
        if (n != 4)
            return;
        x += 4;
        if (op != KEYED)
            y += 4;
        len -= 4;
    }
}

/* start(K, N), and A */
static void start(subterranean *s, const unsigned char *ad, size_t adlen,
                  const unsigned char *npub, const unsigned char *k)
{
    memset(s, 0, sizeof *s);
    absorb(s, NULL, k, CRYPTO_KEYBYTES, KEYED);
    absorb(s, NULL, npub, CRYPTO_NPUBBYTES, KEYED);
    subterranean_blank(s, 8);
    absorb(s, NULL, ad, adlen, KEYED);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    subterranean s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    absorb(&s, c, m, len, ENCRYPT);
    subterranean_blank(&s, 8);
    subterranean_squeeze(&s, c + len, CRYPTO_ABYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    subterranean s;
    uint8_t t[CRYPTO_ABYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    absorb(&s, m, c, len, DECRYPT);
    subterranean_blank(&s, 8);
    subterranean_squeeze(&s, t, CRYPTO_ABYTES);

    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
