/*
 * The unified sponge duplex mode of ACE-AE-128, Spix and WAGE-AE-128, which
 * is Algorithm 2 of the first and the last and Algorithm 1 of Spix: the rate
 * has eight bytes, and the key is absorbed before and after the data.
 */
#include "api.h"
#include "crypto_aead.h"
#include "duplex.h"

#define RATE 8u
#define TAGBYTES CRYPTO_ABYTES

/* S <- P(S_r ^ K_i, S_c), i = 0, 1 */
static void absorb_key(duplex_state *s, const uint8_t *k)
{
    duplex_add(s, k);
    duplex_permute_key(s);
    duplex_add(s, k + RATE);
    duplex_permute_key(s);
}

/* pad_r(X), for the last n < r bytes */
static void pad(uint8_t *block, const uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < RATE; i++)
        block[i] = i < n ? p[i] : 0;
    block[n] = 0x80;
}

/* Initialization and Processing-Associated-Data */
static void start(duplex_state *s, const uint8_t *ad, size_t adlen,
                  const uint8_t *npub, const uint8_t *k)
{
    uint8_t block[RATE];

    duplex_load(s, npub, k);
    duplex_permute_key(s);
    absorb_key(s, k);

    if (adlen == 0)
        return;
    for (; adlen >= RATE; adlen -= RATE) {
        duplex_add(s, ad);
        duplex_add_domain(s, 1);
        duplex_permute(s);
        ad += RATE;
    }
    pad(block, ad, (uint8_t)adlen);
    duplex_add(s, block);
    duplex_add_domain(s, 1);
    duplex_permute(s);
}

/* Encryption, decrypt = 0, and Decryption, decrypt = 1: adding the plaintext
 * to S_r makes it the ciphertext. */
static void crypt(duplex_state *s, uint8_t *out, const uint8_t *in,
                  size_t len, uint8_t decrypt)
{
    for (;;) {
        uint8_t n = (uint8_t)(len < RATE ? len : RATE), i;
        uint8_t y[RATE], m[RATE];

        duplex_extract(s, y);
        for (i = 0; i < n; i++) {
            uint8_t x = *in++;

            y[i] ^= x;
            m[i] = decrypt ? y[i] : x;
            *out++ = y[i];
        }
        if (n < RATE)
            pad(m, m, n);
        duplex_add(s, m);
        duplex_add_domain(s, 2);
        duplex_permute(s);
        if (n < RATE)
            return;
        len -= RATE;
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    duplex_state s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    crypt(&s, c, m, len, 0);
    absorb_key(&s, k); /* Finalization */
    duplex_tag(&s, c + len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    duplex_state s;
    uint8_t t[TAGBYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    crypt(&s, m, c, len, 1);
    absorb_key(&s, k); /* Finalization */
    duplex_tag(&s, t);

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
