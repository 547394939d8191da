/*
 * DryGASCON, authenticated encryption: Algorithms 9 and 10 of the
 * specification, without static data.
 */
#include "api.h"
#include "crypto_aead.h"
#include "drysponge.h"

/* All blocks of P or C: out is in ^ r, and P is absorbed. */
static void crypt(drysponge *s, unsigned char *out, const unsigned char *in,
                  size_t len, uint8_t decrypt)
{
    uint8_t p[DRYGASCON_BLOCK], i;

    while (len != 0) {
        uint8_t n = (uint8_t)(len < DRYGASCON_BLOCK ? len : DRYGASCON_BLOCK);

        for (i = 0; i < n; i++) {
            uint8_t a = in[i], b = (uint8_t)(a ^ DRYSPONGE_BYTE(s->r, i));

            p[i] = decrypt ? b : a;
            out[i] = b;
        }
        len -= n;
        drysponge_f(s, p, n, len == 0 ? DRYGASCON_MESSAGE : 0, len == 0,
                    DRYGASCON_ROUNDS);
        in += n;
        out += n;
    }
}

/* Key setup, NONCE and A; mlen says where the finalization is. */
static void start(drysponge *s, const unsigned char *ad, size_t adlen,
                  size_t mlen, const unsigned char *npub,
                  const unsigned char *k)
{
    drysponge_key(s, k, CRYPTO_KEYBYTES);
    drysponge_f(s, npub, DRYGASCON_BLOCK, DRYGASCON_DIVERSIFICATION,
                adlen == 0 && mlen == 0, DRYGASCON_DROUNDS);
    if (adlen != 0)
        drysponge_absorb(s, ad, adlen, DRYGASCON_DATA, mlen == 0);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    drysponge s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, len, npub, k);
    crypt(&s, c, m, len, 0);
    drysponge_squeeze(&s, c + len, CRYPTO_ABYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    drysponge s;
    uint8_t t[CRYPTO_ABYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, len, npub, k);
    crypt(&s, m, c, len, 1);
    drysponge_squeeze(&s, t, CRYPTO_ABYTES);

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
