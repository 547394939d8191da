/*
 * HyENA (HyENA v1, section 2.1, Figure 2.4): hybrid feedback over GIFT-128.
 *
 * Strings are little-endian: byte 0 of a block holds its least significant
 * bits.  The two halves are called as in the figure, but by the known answers
 * Y_L is the first one, bytes 0 to 7, and Delta is a polynomial with the
 * highest coefficients in its first byte.
 *
 * From params.h: HYENA_VERSION 1 or 2; HYENA_SUBMITTED, see hyfb.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_aead.h"
#include "gift128n.h"
#include "params.h"

#define TAGBYTES CRYPTO_ABYTES

typedef struct {
    gift128_key key;
    uint8_t y[16]; /* Y and X */
    uint8_t delta[8];
} hyena;

enum { ABSORB, ENCRYPT, DECRYPT };

/* Delta = 2 * Delta, in GF(2^64) modulo x^64 + x^4 + x^3 + x + 1 */
static void double_delta(uint8_t *delta)
{
    uint8_t carry = (uint8_t)(delta[0] >> 7), i;

    for (i = 0; i < 7; i++)
        delta[i] = (uint8_t)(delta[i] << 1 | delta[i + 1] >> 7);
    delta[7] = (uint8_t)(delta[7] << 1 ^ (-carry & 0x1b));
}

#if HYENA_VERSION == 2
/* Delta = 3 * Delta */
static void triple_delta(uint8_t *delta)
{
    uint8_t old[8], i;

    for (i = 0; i < 8; i++)
        old[i] = delta[i];
    double_delta(delta);
    for (i = 0; i < 8; i++)
        delta[i] ^= old[i];
}
#endif

/*
 * Delta of the last block, of n bytes.  Version 1: 2^2 * Delta if it is full,
 * 2^3 * Delta if not, for the associated data as for the text; in Proc-AD one
 * of these doublings is made beforehand, in line 2.  Version 2: 3 * Delta and
 * 3^2 * Delta.
 */
static void last_delta(uint8_t *delta, uint8_t n)
{
#if HYENA_VERSION == 2
    triple_delta(delta);
    if (n < 16)
        triple_delta(delta);
#else
    double_delta(delta);
    double_delta(delta);
    if (n < 16)
        double_delta(delta);
#endif
}

/*
 * HyFB+ and HyFB-: X = Y ^ (M_L || (C_R ^ Delta)), with C = Y ^ M.  So X_L is
 * C_L and X_R is M_R ^ Delta, as far as the block goes; beyond it is Y, with
 * the bit of the padding.
 */
static void hyfb(hyena *z, uint8_t *out, const uint8_t *in, uint8_t n,
                 uint8_t what)
{
    uint8_t i;

    for (i = 0; i < n; i++) {
        uint8_t x = in[i];
        uint8_t y = x ^ z->y[i];

        /* C in the first half, M in the second */
        z->y[i] = (uint8_t)((i < 8) == (what == DECRYPT) ? x : y);
        if (what != ABSORB)
            out[i] = y;
    }
    if (n < 16)
        z->y[n] ^= 0x01;
#ifdef HYENA_SUBMITTED
    /* The submission's code forgets the last byte. */
    for (i = 0; i < 7; i++)
#else
    for (i = 0; i < 8; i++)
#endif
        z->y[8 + i] ^= z->delta[i];
}

/* The loops of Proc-AD and Proc-TXT; before the first block Y = E_K(X) has
 * been computed.  An empty string is one empty block. */
static void process(hyena *z, uint8_t *out, const uint8_t *in, size_t len,
                    uint8_t what)
{
    for (;;) {
        uint8_t n = (uint8_t)(len < 16 ? len : 16);

        len -= n;
        if (len != 0)
            double_delta(z->delta);
        else
            last_delta(z->delta, n);
        hyfb(z, out, in, n, what);
        if (len == 0)
            return;
        gift128n_encrypt(&z->key, z->y);
        in += 16;
        if (what != ABSORB)
            out += 16;
    }
}

/* Init and Proc-AD */
static void start(hyena *z, const uint8_t *k, const uint8_t *npub,
                  const uint8_t *ad, size_t adlen, size_t mlen)
{
    uint8_t i;

    gift128n_set_key(&z->key, k);
    /* N || 0^30 || b_1 || b_0 */
    z->y[0] = (uint8_t)((adlen == 0) | (adlen == 0 && mlen == 0) << 1);
    z->y[1] = 0;
    z->y[2] = 0;
    z->y[3] = 0;
    for (i = 0; i < 12; i++)
        z->y[4 + i] = npub[i];
    gift128n_encrypt(&z->key, z->y);

    for (i = 0; i < 8; i++)
        z->delta[i] = z->y[8 + i];
    process(z, z->y, ad, adlen, ABSORB);
}

static void proc_txt(hyena *z, uint8_t *out, const uint8_t *in, size_t len,
                     uint8_t what)
{
    if (len == 0)
        return;
    gift128n_encrypt(&z->key, z->y);
    process(z, out, in, len, what);
}

/* T = E_K(X_R || X_L) */
static void tag_gen(hyena *z)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint8_t x = z->y[i];

        z->y[i] = z->y[8 + i];
        z->y[8 + i] = x;
    }
    gift128n_encrypt(&z->key, z->y);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    hyena z;
    size_t len = (size_t)mlen;
    uint8_t i;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&z, k, npub, ad, (size_t)adlen, len);
    proc_txt(&z, c, m, len, ENCRYPT);
    tag_gen(&z);
    c += len;
    for (i = 0; i < TAGBYTES; i++)
        c[i] = z.y[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    hyena z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&z, k, npub, ad, (size_t)adlen, len);
    proc_txt(&z, m, c, len, DECRYPT);
    tag_gen(&z);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(z.y[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
