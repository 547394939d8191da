/*
 * LOTUS-AEAD and LOCUS-AEAD: all but the processing of the text.
 */
#include "api.h"
#include "common.h"
#include "crypto_aead.h"

#define TAGBYTES CRYPTO_ABYTES

void add(uint8_t *x, const uint8_t *y)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        x[i] ^= y[i];
}

/* In GF(2^128) modulo x^128 + x^7 + x^2 + x + 1; little-endian. */
void next_key(mode *z)
{
    uint8_t carry = (uint8_t)(z->l[15] >> 7), i;

    for (i = 15; i > 0; i--)
        z->l[i] = (uint8_t)(z->l[i] << 1 | z->l[i - 1] >> 7);
    z->l[0] = (uint8_t)(z->l[0] << 1 ^ (-carry & 0x87));
    twegift64_set_key(&z->key, z->l);
}

static void proc_ad(mode *z, const uint8_t *ad, size_t adlen)
{
    while (adlen != 0) {
        uint8_t x[8], n = (uint8_t)(adlen < 8 ? adlen : 8), i;

        for (i = 0; i < 8; i++)
            x[i] = z->delta[i];
        for (i = 0; i < n; i++)
            x[i] ^= *ad++;
        if (n < 8)
            x[n] ^= 0x01; /* ozs */
        adlen -= n;
        next_key(z);
        twegift64_encrypt(&z->key, n < 8 ? 3 : 2, x);
        add(z->checksum, x);
    }
}

void start(mode *z, const uint8_t *k, const uint8_t *npub, const uint8_t *ad,
           size_t adlen)
{
    uint8_t i;

    /* init */
    for (i = 0; i < 8; i++) {
        z->delta[i] = 0;
        z->checksum[i] = 0;
    }
    twegift64_set_key(&z->key, k);
    twegift64_encrypt(&z->key, 0, z->delta);
    for (i = 0; i < 16; i++)
        z->l[i] = k[i] ^ npub[i];
    twegift64_set_key(&z->key, z->l);
    twegift64_encrypt(&z->key, 1, z->delta);

    proc_ad(z, ad, adlen);
}

void proc_tg(mode *z)
{
    next_key(z);
    add(z->checksum, z->delta);
    twegift64_encrypt(&z->key, 6, z->checksum);
    add(z->checksum, z->delta);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    mode z;
    size_t len = (size_t)mlen;
    uint8_t i;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&z, k, npub, ad, (size_t)adlen);
    if (len != 0)
        proc_text(&z, c, m, len, 0);
    proc_tg(&z);
    for (i = 0; i < TAGBYTES; i++)
        c[len + i] = z.checksum[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    mode z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&z, k, npub, ad, (size_t)adlen);
    if (len != 0)
        proc_text(&z, m, c, len, 1);
    proc_tg(&z);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(z.checksum[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
