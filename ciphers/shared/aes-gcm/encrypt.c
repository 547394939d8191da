/*
 * AES-GCM (SP 800-38D, sections 7.1 and 7.2) with nonces of 96 bits and tags
 * of 128 bits.
 */
#include "aes.h"
#include "crypto_aead.h"
#include "ghash.h"

#define TAGBYTES CRYPTO_ABYTES
#define NONCEBYTES CRYPTO_NPUBBYTES

/* AVR reaches only 64 bytes of a frame directly, and gcm is larger. */
#define NOT_INLINE __attribute__((noinline))

typedef struct {
    aes_key key;
    ghash hash;
    uint8_t mask[16]; /* E(K, J_0), which encrypts the tag */
    uint8_t stream[16 * AES_PARALLEL];
} gcm;

/* x = nonce || counter */
static void counter_block(uint8_t *x, const uint8_t *npub, uint32_t counter)
{
    uint8_t i;

    for (i = 0; i < NONCEBYTES; i++)
        x[i] = npub[i];
    for (; i < 16; i++) {
        x[i] = (uint8_t)(counter >> 24);
        counter <<= 8;
    }
}

/* H = E(K, 0) and E(K, J_0) */
static void NOT_INLINE start(gcm *g, const uint8_t *k, const uint8_t *npub)
{
    uint8_t *x = g->stream, i;

    aes_set_key(&g->key, k);
    for (i = 0; i < 16; i++)
        x[i] = 0;
#if AES_PARALLEL == 2
    counter_block(x + 16, npub, 1);
    aes_encrypt_blocks(&g->key, x);
    for (i = 0; i < 16; i++)
        g->mask[i] = x[16 + i];
#else
    counter_block(g->mask, npub, 1);
    aes_encrypt(&g->key, g->mask);
    aes_encrypt(&g->key, x);
#endif
    ghash_start(&g->hash, x);
}

/* GCTR(inc32(J_0), in) */
static void NOT_INLINE gctr(gcm *g, const uint8_t *npub, uint8_t *out,
                            const uint8_t *in, size_t len)
{
    uint32_t counter = 1;

    while (len != 0) {
        uint8_t *x = g->stream, i, n;

        for (i = 0; i < sizeof g->stream; i = (uint8_t)(i + 16))
            counter_block(x + i, npub, ++counter);
        aes_encrypt_blocks(&g->key, x);
        n = (uint8_t)(len < sizeof g->stream ? len : sizeof g->stream);
        for (i = 0; i < n; i++)
            *out++ = *in++ ^ x[i];
        len -= n;
    }
}

static void NOT_INLINE tag(gcm *g, const uint8_t *ad, size_t adlen,
                           const uint8_t *c, size_t len, uint8_t *t)
{
    uint8_t i;

    ghash_add(&g->hash, ad, adlen);
    ghash_add(&g->hash, c, len);
    ghash_finish(&g->hash, adlen, len, t);
    for (i = 0; i < TAGBYTES; i++)
        t[i] ^= g->mask[i];
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    gcm g;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&g, k, npub);
    gctr(&g, npub, c, m, len);
    tag(&g, ad, (size_t)adlen, c, len, c + len);
    return 0;
}

/* The tag is verified before anything is decrypted. */
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    gcm g;
    uint8_t t[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&g, k, npub);
    tag(&g, ad, (size_t)adlen, c, len, t);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0)
        return -1;
    gctr(&g, npub, m, c, len);
    *mlen = len;
    return 0;
}
