/*
 * SCHWAEMM: Algorithms 2.11 to 2.18 of the specification (section 2.3), with
 * rate and capacity from "params.h".
 */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "sparkle.h"

#define RATE CRYPTO_NPUBBYTES           /* bytes of S_L and of the nonce */
#define CAPACITY CRYPTO_KEYBYTES        /* bytes of S_R, key and tag */
#define RATE_WORDS (RATE / 4)
#define CAPACITY_WORDS (CAPACITY / 4)

/* Const_A and Const_M; the second bit from above tells the variants apart. */
#define PADDED_AD (0u ^ 1u << (CAPACITY / 8))
#define FULL_AD (1u ^ 1u << (CAPACITY / 8))
#define PADDED_MESSAGE (2u ^ 1u << (CAPACITY / 8))
#define FULL_MESSAGE (3u ^ 1u << (CAPACITY / 8))

/* Word j of W_{c,r}(S_R): S_R repeated until it fills the rate */
#if RATE == CAPACITY
#define WHITENING(s, j) ((s)->w[RATE_WORDS + (j)])
#else
#define WHITENING(s, j) ((s)->w[RATE_WORDS + (j) % CAPACITY_WORDS])
#endif

enum { ABSORB, ENCRYPT, DECRYPT };

/*
 * One block of n <= RATE bytes.  The output is rho_2(S_L, in) or rho'_2, the
 * same; then S_L <- rho_1(S_L, D) ^ W_{c,r}(S_R) with D, the data or the
 * plaintext, padded.  (rho'_1 of the ciphertext is rho_1 of the plaintext.)
 */
static void rho(sparkle_state *s, unsigned char *out, const unsigned char *in,
                uint8_t n, uint8_t what)
{
    uint32_t d[RATE_WORDS];
    uint8_t j;

    if (n != RATE) {
        memset(d, 0, sizeof d);
        SPARKLE_BYTE(d, n) = 0x80;      /* pad_r (Algorithm 2.8) */
    }
    if (what != DECRYPT) {
        sparkle_load(d, in, n);
        if (what == ENCRYPT) {
            uint32_t c[RATE_WORDS];

            for (j = 0; j < RATE_WORDS; j++)
                c[j] = s->w[j] ^ d[j];
            sparkle_store(out, c, n);
        }
    } else {
        uint32_t c[RATE_WORDS];

        memset(c, 0, sizeof c);
        sparkle_load(c, in, n);
        for (j = 0; j < RATE_WORDS; j++)
            c[j] ^= s->w[j];
        sparkle_store(out, c, n);
        sparkle_load(d, out, n);
    }

    /* FeistelSwap(S_1 || S_2) = S_2 || (S_2 ^ S_1) */
    for (j = 0; j < RATE_WORDS / 2; j++) {
        uint8_t k = (uint8_t)(j + RATE_WORDS / 2);
        uint32_t s1 = s->w[j], s2 = s->w[k];

        s->w[j] = s2 ^ d[j] ^ WHITENING(s, j);
        s->w[k] = s2 ^ s1 ^ d[k] ^ WHITENING(s, k);
    }
}

/* All blocks of A or M, if there are any. */
static void process(sparkle_state *s, unsigned char *out,
                    const unsigned char *in, size_t len, uint8_t what)
{
    uint8_t constant;

    if (len == 0)
        return;
    while (len > RATE) {
        rho(s, out, in, RATE, what);
        sparkle(s, SPARKLE_SLIM);
        in += RATE;
        if (what != ABSORB)
            out += RATE;
        len -= RATE;
    }
    if (what == ABSORB)
        constant = len == RATE ? FULL_AD : PADDED_AD;
    else
        constant = len == RATE ? FULL_MESSAGE : PADDED_MESSAGE;
    SPARKLE_BYTE(s->w, 4 * SPARKLE_WORDS - 1) ^= constant;
    rho(s, out, in, (uint8_t)len, what);
    sparkle(s, SPARKLE_BIG);
}

/* State initialization and processing of associated data. */
static void start(sparkle_state *s, const unsigned char *ad, size_t adlen,
                  const unsigned char *npub, const unsigned char *k)
{
    sparkle_load(s->w, npub, RATE);
    sparkle_load(s->w + RATE_WORDS, k, CAPACITY);
    sparkle(s, SPARKLE_BIG);
    process(s, NULL, ad, adlen, ABSORB);
}

/* S_R <- S_R ^ K, the tag */
static void finish(sparkle_state *s, const unsigned char *k)
{
    uint8_t i;

    for (i = 0; i < CAPACITY; i++)
        SPARKLE_BYTE(s->w, RATE + i) ^= k[i];
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    sparkle_state s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    process(&s, c, m, len, ENCRYPT);
    finish(&s, k);
    sparkle_store(c + len, s.w + RATE_WORDS, CRYPTO_ABYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    sparkle_state s;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    process(&s, m, c, len, DECRYPT);
    finish(&s, k);

    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(SPARKLE_BYTE(s.w, RATE + i) ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
