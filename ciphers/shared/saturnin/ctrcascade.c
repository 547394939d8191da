/*
 * Saturnin-CTR-Cascade (section 2.2): encryption in counter mode, then a MAC
 * of the ciphertext.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_aead.h"
#include "saturnin.h"

#define TAGBYTES CRYPTO_ABYTES

/* Domain separators (Table 2) */
#define CTR 1
#define CASCADE_AD 2
#define CASCADE_MESSAGE 4
#define FINAL 1 /* added to those of the Cascade */

/* x = N || i: the padded nonce and a big-endian counter */
static void nonce_block(uint8_t *x, const uint8_t *npub, size_t counter)
{
    uint8_t i;

    for (i = 0; i < CRYPTO_NPUBBYTES; i++)
        x[i] = npub[i];
    x[i++] = 0x80;
    for (; i < 32 - sizeof counter; i++)
        x[i] = 0;
    for (i = 31; i > 31 - sizeof counter; i--) {
        x[i] = (uint8_t)counter;
        counter >>= 8;
    }
}

static void ctr(const uint8_t *k, const uint8_t *npub, uint8_t *out,
                const uint8_t *in, size_t len)
{
    size_t counter = 0;

    while (len != 0) {
        uint8_t x[32], i, n = (uint8_t)(len < 32 ? len : 32);

        nonce_block(x, npub, ++counter);
        saturnin_encrypt(10, CTR, k, x);
        for (i = 0; i < n; i++)
            *out++ = *in++ ^ x[i];
        len -= n;
    }
}

/* t = block ^ Saturnin^d(k, block) with the block of n bytes, padded if it is
 * not full; k may be t. */
static void compress(uint8_t *t, const uint8_t *k, const uint8_t *block,
                     uint8_t n, uint8_t d)
{
    uint8_t x[32], y[32], i;

    for (i = 0; i < 32; i++) {
        x[i] = (uint8_t)(i < n ? block[i] : i == n ? 0x80 : 0);
        y[i] = x[i];
    }
    saturnin_encrypt(10, d, k, y);
    for (i = 0; i < 32; i++)
        t[i] = x[i] ^ y[i];
}

/* Full blocks with domain d, the last one, which is never full, with d + 1 */
static void cascade(uint8_t *t, const uint8_t *in, size_t len, uint8_t d)
{
    for (; len >= 32; len -= 32) {
        compress(t, t, in, 32, d);
        in += 32;
    }
    compress(t, t, in, (uint8_t)len, (uint8_t)(d + FINAL));
}

static void tag(uint8_t *t, const uint8_t *k, const uint8_t *npub,
                const uint8_t *ad, size_t adlen, const uint8_t *c,
                size_t clen)
{
    nonce_block(t, npub, 0);
    compress(t, k, t, 32, CASCADE_AD);
    cascade(t, ad, adlen, CASCADE_AD);
    cascade(t, c, clen, CASCADE_MESSAGE);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    uint8_t t[32], i;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    ctr(k, npub, c, m, len);
    tag(t, k, npub, ad, (size_t)adlen, c, len);
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
    uint8_t t[32], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    tag(t, k, npub, ad, (size_t)adlen, c, len);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0)
        return -1;
    ctr(k, npub, m, c, len);
    *mlen = len;
    return 0;
}
