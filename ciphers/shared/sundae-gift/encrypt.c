/*
 * SUNDAE-GIFT (SUNDAE-GIFT v1.0, section 2.3): SUNDAE over GIFT-128.  The tag
 * comes first and is the start of the key stream: C = T || C[1] || C[2] ...
 *
 * The members differ in the length of the nonce, CRYPTO_NPUBBYTES.
 */
#include <stddef.h>
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "gift128.h"

#define TAGBYTES CRYPTO_ABYTES

/* b_125 b_124 of the initial block: 00, 01, 10, 11 for 0, 64, 96, 128 bits */
#if CRYPTO_NPUBBYTES == 0
#define NONCE_LENGTH 0x00
#else
#define NONCE_LENGTH ((CRYPTO_NPUBBYTES / 4 - 1) << 4)
#endif

typedef struct {
    gift128_key key;
    uint8_t v[16]; /* the chaining value V */
} sundae;

/* V = 2 x V (section 2.1) */
static void double_v(uint8_t *v)
{
    uint8_t b0 = v[0], i;

    for (i = 0; i < 15; i++)
        v[i] = v[i + 1];
    v[15] = b0;
    v[10] ^= b0;
    v[12] ^= b0;
    v[14] ^= b0;
}

/* Adds len bytes to V, n bytes of which are in use already; a block is
 * encrypted when the next one begins. */
static uint8_t absorb(sundae *z, uint8_t n, const uint8_t *p, size_t len)
{
    while (len-- != 0) {
        if (n == 16) {
            gift128_encrypt(&z->key, z->v);
            n = 0;
        }
        z->v[n++] ^= *p++;
    }
    return n;
}

/* The last block, of n bytes: V = E_K(m x (V ^ pad(block))) */
static void last(sundae *z, uint8_t n)
{
    if (n < 16)
        z->v[n] ^= 0x80;
    else
        double_v(z->v);
    double_v(z->v);
    gift128_encrypt(&z->key, z->v);
}

/* From "Initialization" to "Extracting tag"; the nonce is the beginning of the
 * associated data A. */
static void authenticate(sundae *z, const uint8_t *npub, const uint8_t *ad,
                         size_t adlen, const uint8_t *m, size_t mlen)
{
    const uint8_t a = (uint8_t)(CRYPTO_NPUBBYTES != 0 || adlen != 0);

    memset(z->v, 0, 16);
    z->v[0] = (uint8_t)(a << 7 | (mlen != 0) << 6 | NONCE_LENGTH);
    gift128_encrypt(&z->key, z->v);
    if (a)
        last(z, absorb(z, absorb(z, 0, npub, CRYPTO_NPUBBYTES), ad, adlen));
    if (mlen != 0)
        last(z, absorb(z, 0, m, mlen));
}

/* "Encrypting message" and "Decrypting message"; V is the tag. */
static void crypt(sundae *z, uint8_t *out, const uint8_t *in, size_t len)
{
    while (len != 0) {
        uint8_t n = (uint8_t)(len < 16 ? len : 16), i;

        gift128_encrypt(&z->key, z->v);
        for (i = 0; i < n; i++)
            *out++ = *in++ ^ z->v[i];
        len -= n;
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    sundae z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    gift128_set_key(&z.key, k);
    authenticate(&z, npub, ad, (size_t)adlen, m, len);
    /* out of the way of the tag, should c and m be the same */
    if (len != 0)
        memmove(c + TAGBYTES, m, len);
    memcpy(c, z.v, TAGBYTES);
    crypt(&z, c + TAGBYTES, c + TAGBYTES, len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    sundae z;
    uint8_t t[TAGBYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    gift128_set_key(&z.key, k);
    memcpy(t, c, TAGBYTES);
    memcpy(z.v, t, TAGBYTES);
    crypt(&z, m, c + TAGBYTES, len);
    authenticate(&z, npub, ad, (size_t)adlen, m, len);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(z.v[i] ^ t[i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
