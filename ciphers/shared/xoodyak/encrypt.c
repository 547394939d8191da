/*
 * Xoodyak, authenticated encryption (section 3.2.3 of the specification).  In
 * the final round of the NIST LWC project the nonce is the id of
 * Cyclist(K, id, empty), absorbed together with the key; in round 2 the id is
 * empty and the nonce a string of its own.
 */
#include "api.h"
#include "crypto_aead.h"
#include "cyclist.h"

#define TAGBYTES CRYPTO_ABYTES

#if CYCLIST_ID_BYTES != 0
#define start cyclist_keyed
#else
static void start(cyclist *z, const uint8_t *k, const uint8_t *npub)
{
    cyclist_keyed(z, k, NULL);
    cyclist_absorb(z, npub, CRYPTO_NPUBBYTES);
}
#endif

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    cyclist z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&z, k, npub);
    cyclist_absorb(&z, ad, (size_t)adlen);
    cyclist_crypt(&z, c, m, len, 0);
    cyclist_squeeze(&z, c + len, TAGBYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    cyclist z;
    uint8_t t[TAGBYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&z, k, npub);
    cyclist_absorb(&z, ad, (size_t)adlen);
    cyclist_crypt(&z, m, c, len, 1);
    cyclist_squeeze(&z, t, TAGBYTES);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
