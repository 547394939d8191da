/* ORANGE-Zest (Algorithm 1 of the specification). */
#include "api.h"
#include "crypto_aead.h"
#include "orange.h"

/* proc_hash(X, D, c0, c1) for a D that is not empty */
static void proc_hash(uint8_t *x, const uint8_t *d, size_t len, uint8_t c0,
                      uint8_t c1)
{
    for (; len > 32; len -= 32) {
        photon256(x);
        orange_add(x, d, 32);
        d += 32;
    }
    photon256(x);
    orange_mult(len == 32 ? c0 : c1, x);
    orange_add(x, d, (uint8_t)len);
}

/* KS = rho(S, V): (V^b + alpha S) || (V^t <<< 1); S is spent. */
static void rho(uint8_t *ks, uint8_t *s, const uint8_t *v)
{
    uint8_t carry = (uint8_t)(v[15] >> 7), i;

    orange_alpha(s);
    for (i = 0; i < 16; i++) {
        ks[i] = (uint8_t)(v[i] << 1 | carry);
        carry = (uint8_t)(v[i] >> 7);
        ks[16 + i] = v[16 + i] ^ s[i];
    }
}

/* proc_txt(S, U, D, dir) for a D that is not empty: the ciphertext, D' of
 * encryption, D of decryption, is fed back. */
static void proc_txt(uint8_t *s, uint8_t *u, uint8_t *out, const uint8_t *in,
                     size_t len, uint8_t decrypt)
{
    do {
        uint8_t ks[32], i;
        uint8_t n = (uint8_t)(len < 32 ? len : 32);

        photon256(u);
        if (len <= 32)
            orange_mult(n == 32 ? 1 : 2, u);
        rho(ks, s, u);
        memcpy(s, u + 16, 16);
        for (i = 0; i < n; i++) {
            uint8_t x = in[i];

            ks[i] ^= x;
            u[i] ^= (uint8_t)(decrypt ? x : ks[i]);
            out[i] = ks[i];
        }
        if (n < 32)
            u[n] ^= 1;
        in += n;
        out += n;
        len -= n;
    } while (len != 0);
}

/* proc_tg(U) */
static void proc_tg(uint8_t *t, const uint8_t *u)
{
    uint8_t x[32];

    memcpy(x, u + 16, 16);
    memcpy(x + 16, u, 16);
    photon256(x);
    memcpy(t, x, 16);
}

/* enc and dec but for the comparison of tags */
static void zest(uint8_t *t, uint8_t *out, const uint8_t *in, size_t len,
                 const uint8_t *ad, size_t adlen, const uint8_t *npub,
                 const uint8_t *k, uint8_t decrypt)
{
    uint8_t s[16], u[32];

    memcpy(u, npub, 16);
    memcpy(u + 16, k, 16);
    if (adlen != 0) {
        proc_hash(u, ad, adlen, 1, 2);
    } else if (len != 0) {
        u[16] ^= 1;
    } else {
        u[16] ^= 2;
        photon256(u);
        memcpy(t, u, 16);
        return;
    }
    if (len != 0) {
        memcpy(s, k, 16);
        proc_txt(s, u, out, in, len, decrypt);
    }
    proc_tg(t, u);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    zest(c + len, c, m, len, ad, (size_t)adlen, npub, k, 0);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t t[CRYPTO_ABYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    zest(t, m, c, len, ad, (size_t)adlen, npub, k, 1);
    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0) {
        if (len != 0)
            memset(m, 0, len);
        return -1;
    }
    *mlen = len;
    return 0;
}
