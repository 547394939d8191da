/* ISAP v2.0, Algorithms 1 to 5 of the specification. */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "isap.h"

#define K_BITS (8 * ISAP_K)
#define Z_ENC (ISAP_STATE - ISAP_K)     /* n - k, in bytes: |K*_e| */

/* Table 2.3; the rest of an initial value is 0. */
#define IV_BYTES 8
#define IV_A 1
#define IV_KA 2
#define IV_KE 3

/* S <- first || IV, then the permutation */
static void start(isap_state *s, const uint8_t *first, uint8_t iv,
                  uint8_t rounds)
{
    uint8_t block[ISAP_K + IV_BYTES] = { 0 };

    memcpy(block, first, ISAP_K);
    block[ISAP_K] = iv;
    block[ISAP_K + 1] = K_BITS;
    block[ISAP_K + 2] = ISAP_RATE_BITS;
    block[ISAP_K + 3] = 1;              /* r_b */
    block[ISAP_K + 4] = ISAP_S_H;
    block[ISAP_K + 5] = ISAP_S_B;
    block[ISAP_K + 6] = ISAP_S_E;
    block[ISAP_K + 7] = ISAP_S_K;
    memset(s, 0, sizeof *s);
    isap_add(s, block, sizeof block);
    isap_permute(s, rounds);
}

/* ISAP_RK (Algorithm 4); K* is the first bytes of S. */
static void rekey(isap_state *s, const uint8_t *k, uint8_t iv,
                  const uint8_t *y)
{
    uint8_t i, bits = 0;

    start(s, k, iv, ISAP_S_K);
    for (i = 0; i < K_BITS; i++) {
        if (i % 8 == 0)
            bits = y[i / 8];
        isap_add_bit(s, bits >> 7);
        bits = (uint8_t)(bits << 1);
        isap_permute(s, i < K_BITS - 1 ? ISAP_S_B : ISAP_S_K);
    }
}

/* ISAP_ENC (Algorithm 3) */
static void crypt(uint8_t *c, const uint8_t *m, size_t len,
                  const uint8_t *npub, const uint8_t *k)
{
    isap_state s;

    if (len == 0)
        return;
    rekey(&s, k, IV_KE, npub);
    isap_replace(&s, Z_ENC, npub, ISAP_K);      /* S <- K*_e || N */
    for (;;) {
        uint8_t n = (uint8_t)(len < ISAP_RATE ? len : ISAP_RATE);

        isap_permute(&s, ISAP_S_E);
        isap_crypt(&s, c, m, n);
        len -= n;
        if (len == 0)
            return;
        c += n;
        m += n;
    }
}

/* All blocks of A or C. */
static void absorb(isap_state *s, const uint8_t *p, size_t len)
{
    while (len >= ISAP_RATE) {
        isap_add(s, p, ISAP_RATE);
        isap_permute(s, ISAP_S_H);
        p += ISAP_RATE;
        len -= ISAP_RATE;
    }
    if (len != 0)
        isap_add(s, p, (uint8_t)len);
    isap_add_padding(s, (uint8_t)len);
    isap_permute(s, ISAP_S_H);
}

/* ISAP_MAC (Algorithm 5) */
static void mac(uint8_t *t, const uint8_t *c, size_t clen, const uint8_t *ad,
                size_t adlen, const uint8_t *npub, const uint8_t *k)
{
    isap_state s, r;

    start(&s, npub, IV_A, ISAP_S_H);
    absorb(&s, ad, adlen);
    isap_separate(&s);
    absorb(&s, c, clen);

    isap_extract(&s, t, ISAP_K);                /* Y */
    rekey(&r, k, IV_KA, t);
    isap_extract(&r, t, ISAP_K);                /* K*_a */
    isap_replace(&s, 0, t, ISAP_K);
    isap_permute(&s, ISAP_S_H);
    isap_extract(&s, t, ISAP_K);
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
    crypt(c, m, len, npub, k);
    mac(c + len, c, len, ad, (size_t)adlen, npub, k);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t t[CRYPTO_ABYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    mac(t, c, len, ad, (size_t)adlen, npub, k);
    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0)
        return -1;
    crypt(m, c, len, npub, k);
    *mlen = len;
    return 0;
}
