/*
 * Oribatida (Algorithm 1 of the specification).
 *
 * "params.h" has SIMP_N and MASKBYTES, s / 8.  The first byte of a string is
 * the most significant one.
 */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "simp.h"

#define RATE CRYPTO_ABYTES /* r / 8, and tau = r */

typedef struct {
    uint8_t s[SIMP_N];
    uint8_t v[MASKBYTES]; /* lsb_s of V_f, then of V_{a+i} */
} oribatida;

static void keep_mask(oribatida *z)
{
    memcpy(z->v, z->s + SIMP_N - MASKBYTES, MASKBYTES);
}

/* P with domain d added before: 4 steps */
static void permute(oribatida *z, uint8_t d)
{
    z->s[SIMP_N - 1] ^= d;
    simp(z->s, 4);
}

/* Init and ProcessAD */
static void start(oribatida *z, const uint8_t *ad, size_t adlen, size_t mlen,
                  const uint8_t *npub, const uint8_t *k)
{
    uint8_t i, n;

    memcpy(z->s, npub, CRYPTO_NPUBBYTES);
    memcpy(z->s + CRYPTO_NPUBBYTES, k, CRYPTO_KEYBYTES);
    keep_mask(z);
    permute(z, adlen == 0 && mlen == 0 ? 9 : 5); /* GetDomainForN */
    if (adlen == 0)
        return;
    keep_mask(z);

    for (;;) {
        n = (uint8_t)(adlen < RATE ? adlen : RATE);
        for (i = 0; i < n; i++)
            z->s[i] ^= *ad++;
        adlen -= n;
        if (adlen == 0)
            break;
        simp(z->s, 2); /* P' */
    }
    if (n < RATE)
        z->s[n] ^= 0x80;
    /* GetDomainForA */
    permute(z, (uint8_t)((mlen == 0 ? 12 : 4) + (n < RATE ? 2 : 0)));
}

/* Encrypt and Decrypt, without the tag */
static void crypt(oribatida *z, uint8_t *out, const uint8_t *in, size_t len,
                  uint8_t decrypt)
{
    while (len != 0) {
        uint8_t mask[RATE], i;
        uint8_t n = (uint8_t)(len < RATE ? len : RATE);

        /* C = X +_s lsb_s(V), where X = U + M */
        memset(mask, 0, RATE);
        memcpy(mask + RATE - MASKBYTES, z->v, MASKBYTES);
        keep_mask(z);
        for (i = 0; i < n; i++) {
            uint8_t x = in[i], u = z->s[i];
            uint8_t y = (uint8_t)(x ^ u ^ mask[i]);

            z->s[i] = (uint8_t)(decrypt ? x ^ mask[i] : x ^ u);
            out[i] = y;
        }
        if (n < RATE)
            z->s[n] ^= 0x80;
        in += n;
        out += n;
        len -= n;
        /* GetDomainForE */
        permute(z, len != 0 ? 0 : n == RATE ? 13 : 15);
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    oribatida z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    start(&z, ad, (size_t)adlen, len, npub, k);
    crypt(&z, c, m, len, 0);
    memcpy(c + len, z.s, CRYPTO_ABYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    oribatida z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    start(&z, ad, (size_t)adlen, len, npub, k);
    crypt(&z, m, c, len, 1);
    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(z.s[i] ^ c[len + i]);
    if (difference != 0) {
        if (len != 0)
            memset(m, 0, len);
        return -1;
    }
    *mlen = len;
    return 0;
}
