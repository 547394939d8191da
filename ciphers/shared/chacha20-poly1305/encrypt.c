/*
 * AEAD_CHACHA20_POLY1305 (RFC 8439, section 2.8).
 */
#include <stddef.h>

#include "api.h"
#include "chacha20.h"
#include "crypto_aead.h"
#include "poly1305.h"

#define TAGBYTES CRYPTO_ABYTES

/* AVR reaches only 64 bytes of a frame directly. */
#define NOT_INLINE __attribute__((noinline))

/* The key of Poly1305 is the block of counter 0. */
static void NOT_INLINE start(chacha20 *s, uint8_t *key, const uint8_t *k,
                             const uint8_t *npub)
{
    uint8_t i;

    chacha20_start(s, k, npub);
    chacha20_block(s);
    for (i = 0; i < 8; i++)
        store32le(key + 4 * i, s->x[i]);
}

static void NOT_INLINE tag(const uint8_t *key, const uint8_t *ad,
                           size_t adlen, const uint8_t *c, size_t len,
                           uint8_t *t)
{
    poly1305 p;
    uint8_t sizes[16], i;

    poly1305_start(&p, key);
    poly1305_add(&p, ad, adlen);
    poly1305_add(&p, c, len);
    for (i = 0; i < 8; i++) {
        sizes[i] = (uint8_t)adlen;
        sizes[8 + i] = (uint8_t)len;
        adlen >>= 8;
        len >>= 8;
    }
    poly1305_add(&p, sizes, 16);
    poly1305_finish(&p, key + 16, t);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    chacha20 s;
    uint8_t key[32];
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = mlen + TAGBYTES;
    start(&s, key, k, npub);
    chacha20_xor(&s, c, m, len);
    tag(key, ad, (size_t)adlen, c, len, c + len);
    return 0;
}

/* The tag is verified before anything is decrypted. */
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    chacha20 s;
    uint8_t key[32], t[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (clen < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&s, key, k, npub);
    tag(key, ad, (size_t)adlen, c, len, t);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0)
        return -1;
    chacha20_xor(&s, m, c, len);
    *mlen = len;
    return 0;
}
