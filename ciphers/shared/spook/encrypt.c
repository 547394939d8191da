/*
 * Spook: the mode S1P (section 3.1, Algorithms 3 and 4).
 *
 * A key of 16 bytes is K, single-user; one of 32 bytes is K and p, multi-user.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_aead.h"
#include "spook.h"

#define TAGBYTES CRYPTO_ABYTES
#define RATE (SHADOW_STATE - 32) /* r; c is 256 */

enum { ABSORB, ENCRYPT, DECRYPT };

/* t = P || 0, where P is 0* or p || 1 */
static void public_tweak(uint8_t *t, const uint8_t *k)
{
    uint8_t i;

#if CRYPTO_KEYBYTES == 32
    for (i = 0; i < 16; i++)
        t[i] = k[16 + i];
    /* the last two bits of the key are discarded */
    t[15] = (uint8_t)((t[15] & 0x3f) | 0x40);
#else
    (void)k;
    for (i = 0; i < 16; i++)
        t[i] = 0;
#endif
}

/* The loops of steps 7 and 8; len != 0 */
static void process(uint8_t *s, uint8_t *out, const uint8_t *in, size_t len,
                    uint8_t what)
{
    do {
        uint8_t n = (uint8_t)(len < RATE ? len : RATE), i;

        for (i = 0; i < n; i++) {
            uint8_t x = *in++;
            uint8_t y = x ^ s[i];

            s[i] = what == DECRYPT ? x : y;
            if (what != ABSORB)
                *out++ = y;
        }
        if (n < RATE) {
            s[n] ^= 0x01;    /* 10* */
            s[RATE] ^= 0x02; /* 01 || 0* */
        }
        shadow(s);
        len -= n;
    } while (len != 0);
}

/* Steps 4 to 9; V || 1 is left in bytes 16 to 31 of the state. */
static void sponge(uint8_t *s, const uint8_t *k, const uint8_t *npub,
                   const uint8_t *ad, size_t adlen, uint8_t *out,
                   const uint8_t *in, size_t len, uint8_t what)
{
    uint8_t *b = s + SHADOW_STATE - 16, i;

    /* B = E_K^(P||0)(N || 0*), S = pi(P || 0 || N || 0* || B) */
    public_tweak(s, k);
    for (i = 16; i < SHADOW_STATE; i++)
        s[i] = 0;
    for (i = 0; i < CRYPTO_NPUBBYTES; i++) {
        s[16 + i] = npub[i];
        b[i] = npub[i];
    }
    clyde128_encrypt(k, s, b);
    shadow(s);

    if (adlen != 0)
        process(s, s, ad, adlen, ABSORB);
    if (len != 0) {
        s[RATE] ^= 0x01; /* 10 || 0* */
        process(s, out, in, len, what);
    }
    s[31] |= 0x80;
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    uint8_t s[SHADOW_STATE], i;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    sponge(s, k, npub, ad, (size_t)adlen, c, m, len, ENCRYPT);
    clyde128_encrypt(k, s + 16, s);
    c += len;
    for (i = 0; i < TAGBYTES; i++)
        c[i] = s[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t s[SHADOW_STATE], u[16], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    sponge(s, k, npub, ad, (size_t)adlen, m, c, len, DECRYPT);

    /* U is computed from the tag and compared, rather than the tag: what is
     * compared with the right value says nothing about it. */
    for (i = 0; i < TAGBYTES; i++)
        u[i] = c[len + i];
    clyde128_decrypt(k, s + 16, u);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(u[i] ^ s[i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
