/*
 * KNOT-AEAD (section 4 of the specification, Algorithm 1).
 */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "knot.h"

#define TAGBYTES CRYPTO_ABYTES
#define LAST (KNOT_B - 1u)

/* Initialization (4.3) and processing of associated data (4.4) */
static void start(knot_state *s, const uint8_t *ad, size_t adlen,
                  const uint8_t *npub, const uint8_t *k)
{
    uint8_t i;

    memset(s, 0, sizeof *s);
    for (i = 0; i < CRYPTO_NPUBBYTES; i++)
        KNOT_BYTE(s, i) = npub[i];
    for (i = 0; i < CRYPTO_KEYBYTES; i++)
        KNOT_BYTE(s, CRYPTO_NPUBBYTES + i) = k[i];
    if (CRYPTO_NPUBBYTES + CRYPTO_KEYBYTES < KNOT_B)
        KNOT_BYTE(s, LAST) = 0x80; /* KNOT-AEAD(128, 384, 192) */
    knot_permute(s, KNOT_NR0);

    if (adlen != 0) {
        for (; adlen >= RATE; adlen -= RATE) {
            for (i = 0; i < RATE; i++)
                KNOT_BYTE(s, i) ^= *ad++;
            knot_permute(s, KNOT_NR);
        }
        for (i = 0; i < adlen; i++)
            KNOT_BYTE(s, i) ^= *ad++;
        KNOT_BYTE(s, i) ^= 1;
        knot_permute(s, KNOT_NR);
    }
    KNOT_BYTE(s, LAST) ^= 0x80;
}

/* Encryption (4.5), decrypt = 0, and decryption (4.6), decrypt = 1: S_r is
 * the ciphertext in both. */
static void crypt(knot_state *s, uint8_t *out, const uint8_t *in, size_t len,
                  uint8_t decrypt)
{
    if (len == 0)
        return;
    for (;;) {
        uint8_t n = (uint8_t)(len < RATE ? len : RATE), i;

        for (i = 0; i < n; i++) {
            uint8_t x = *in++;
            uint8_t y = x ^ KNOT_BYTE(s, i);

            KNOT_BYTE(s, i) = decrypt ? x : y;
            *out++ = y;
        }
        if (n < RATE) {
            KNOT_BYTE(s, n) ^= 1;
            return;
        }
        len -= RATE;
        knot_permute(s, KNOT_NR);
    }
}

/* Finalization (4.7) */
static void finish(knot_state *s, uint8_t *t)
{
    uint8_t i;

    knot_permute(s, KNOT_NRF);
    for (i = 0; i < TAGBYTES; i++)
        t[i] = KNOT_BYTE(s, i);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    knot_state s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    crypt(&s, c, m, len, 0);
    finish(&s, c + len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    knot_state s;
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
    finish(&s, t);

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
