/*
 * Elephant (section 2.2 of the specification, Algorithms 1 and 2), block by
 * block.  Which version, is in params.h.
 */
#include "blocks.h"
#include "crypto_aead.h"
#include "mask.h"
#include "params.h"

#define TAGBYTES CRYPTO_ABYTES

typedef struct {
    uint8_t expanded[BLOCKBYTES]; /* P(K || 0) */
    uint8_t t[BLOCKBYTES];        /* T */
    uint8_t x[BLOCKBYTES];        /* a block */
    elephant_mask m;
} elephant;

/* x <- P(x + mask_K^{a,b}) + mask_K^{a,b} */
static void masked_permutation(elephant *z, uint8_t b)
{
    uint8_t i;

    for (i = 0; i < BLOCKBYTES; i++)
        z->x[i] ^= mask_byte(&z->m, b, i);
    PERMUTE(z->x);
    for (i = 0; i < BLOCKBYTES; i++)
        z->x[i] ^= mask_byte(&z->m, b, i);
}

/* T <- T + P(x + mask_K^{a,b}) + mask_K^{a,b} */
static void authenticate(elephant *z, uint8_t b)
{
    uint8_t i;

    masked_permutation(z, b);
    for (i = 0; i < BLOCKBYTES; i++)
        z->t[i] ^= z->x[i];
}

/* A_1 to A_lA: T for nonce and associated data */
static void start(elephant *z, const uint8_t *npub, const uint8_t *ad,
                  size_t adlen, const uint8_t *k)
{
    memcpy(z->expanded, k, CRYPTO_KEYBYTES);
    memset(z->expanded + CRYPTO_KEYBYTES, 0, BLOCKBYTES - CRYPTO_KEYBYTES);
    PERMUTE(z->expanded);
    memset(z->expanded + EXPANDED_BYTES, 0, BLOCKBYTES - EXPANDED_BYTES);
    mask_start(&z->m, z->expanded);

#if ELEPHANT_VERSION == 1
    memset(z->t, 0, BLOCKBYTES);
    first_block(z->x, npub, ad, adlen);
    authenticate(z, MASK_A);
#else
    first_block(z->t, npub, ad, adlen);
#endif
    if (adlen < BLOCKBYTES - NONCEBYTES)
        return;
    ad += BLOCKBYTES - NONCEBYTES;
    adlen -= BLOCKBYTES - NONCEBYTES;
    for (;;) {
        mask_next(&z->m);
        padded_block(z->x, ad, adlen);
        authenticate(z, MASK_A);
        if (adlen < BLOCKBYTES)
            return;
        ad += BLOCKBYTES;
        adlen -= BLOCKBYTES;
    }
}

/* Counter mode, and the blocks of C || 1; what is encrypted is authenticated
 * after it, what is decrypted before it. */
static void crypt(elephant *z, uint8_t *out, const uint8_t *in, size_t len,
                  const uint8_t *npub, uint8_t decrypt)
{
#if ELEPHANT_VERSION == 1
    if (len == 0) /* see params.h */
        return;
#endif
    mask_start(&z->m, z->expanded);
    for (;;) {
        uint8_t n = (uint8_t)(len < BLOCKBYTES ? len : BLOCKBYTES), i;

        if (decrypt) {
            padded_block(z->x, in, len);
            authenticate(z, MASK_C);
        }
        if (n != 0) {
            memset(z->x, 0, BLOCKBYTES);
            memcpy(z->x, npub, NONCEBYTES);
            masked_permutation(z, MASK_M);
            for (i = 0; i < n; i++)
                out[i] = in[i] ^ z->x[i];
        }
        if (!decrypt) {
            padded_block(z->x, out, len);
            authenticate(z, MASK_C);
        }
        if (n < BLOCKBYTES)
            return;
        in += BLOCKBYTES;
        out += BLOCKBYTES;
        len -= BLOCKBYTES;
        mask_next(&z->m);
    }
}

/* The tag, in T */
static void finish(elephant *z)
{
#if ELEPHANT_VERSION == 2
    uint8_t i;

    for (i = 0; i < BLOCKBYTES; i++)
        z->t[i] ^= z->expanded[i]; /* mask_K^{0,0} */
    PERMUTE(z->t);
    for (i = 0; i < TAGBYTES; i++)
        z->t[i] ^= z->expanded[i];
#else
    (void)z;
#endif
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    elephant z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&z, npub, ad, (size_t)adlen, k);
    crypt(&z, c, m, len, npub, 0);
    finish(&z);
    memcpy(c + len, z.t, TAGBYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    elephant z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&z, npub, ad, (size_t)adlen, k);
    crypt(&z, m, c, len, npub, 1);
    finish(&z);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(z.t[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
