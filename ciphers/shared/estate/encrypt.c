/*
 * ESTATE and sESTATE (ESTATE v1, Algorithms 1 and 2): FCBC* and OFB over a
 * tweakable block cipher.
 *
 * The cipher comes from tbc.h:
 *   tbc_key, tbc_set_key(key, k)
 *   tbc_encrypt(key, t, x)         x = E^t_K(x)
 *   ESTATE_NOT_LAST(key, t, x)     the call for the nonce, with t = 1, and for
 *                                  all blocks of the MAC but the last, t = 0
 * From params.h: ESTATE_SUBMITTED, see mac.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_aead.h"
#include "params.h"
#include "tbc.h"

#define TAGBYTES CRYPTO_ABYTES

/* T = FCBC*(T, D, t), D not empty; the padding ozs is 0* || 1 || D. */
static void fcbc(const tbc_key *key, uint8_t *t, const uint8_t *d, size_t len,
                 uint8_t full, uint8_t partial)
{
    for (;;) {
        uint8_t n = (uint8_t)(len < 16 ? len : 16), i;

        for (i = 0; i < n; i++)
            t[i] ^= *d++;
        len -= n;
        if (len == 0) {
            if (n < 16)
                t[n] ^= 0x01;
            tbc_encrypt(key, n == 16 ? full : partial, t);
            return;
        }
        ESTATE_NOT_LAST(key, 0, t);
    }
}

static void mac(const tbc_key *key, uint8_t *t, const uint8_t *npub,
                const uint8_t *ad, size_t adlen, const uint8_t *m,
                size_t mlen)
{
    uint8_t i;

    for (i = 0; i < 16; i++)
        t[i] = npub[i];
#ifndef ESTATE_SUBMITTED
    if (adlen == 0 && mlen == 0) {
        tbc_encrypt(key, 8, t);
        return;
    }
#else
    /* The submission's code does not return here, and line 8 of MAC begins
     * with the nonce again. */
#endif
    ESTATE_NOT_LAST(key, 1, t);
    if (adlen != 0) {
        if (mlen != 0)
            fcbc(key, t, ad, adlen, 2, 3);
        else
            fcbc(key, t, ad, adlen, 6, 7);
    }
    if (mlen != 0)
        fcbc(key, t, m, mlen, 4, 5);
}

static void ofb(const tbc_key *key, const uint8_t *tag, uint8_t *out,
                const uint8_t *in, size_t len)
{
    uint8_t t[16], i;

    for (i = 0; i < 16; i++)
        t[i] = tag[i];
    while (len != 0) {
        uint8_t n = (uint8_t)(len < 16 ? len : 16);

        tbc_encrypt(key, 0, t);
        for (i = 0; i < n; i++)
            *out++ = *in++ ^ t[i];
        len -= n;
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    tbc_key key;
    uint8_t t[16], i;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    tbc_set_key(&key, k);
    mac(&key, t, npub, ad, (size_t)adlen, m, len);
    ofb(&key, t, c, m, len);
    c += len;
    for (i = 0; i < TAGBYTES; i++)
        c[i] = t[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    tbc_key key;
    uint8_t t[16], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    tbc_set_key(&key, k);
    ofb(&key, c + len, m, c, len);
    mac(&key, t, npub, ad, (size_t)adlen, m, len);

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
