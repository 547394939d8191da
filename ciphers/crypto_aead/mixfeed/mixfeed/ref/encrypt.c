/*
 * mixFeed (specification of September 21, 2019), Algorithms 1 and 2.  Byte 0
 * of a string is its least significant one.
 *
 * As the submission's known answers have it: without associated data, but
 * with a message, the second encryption of the nonce is that of N || 1, as the
 * first, where line 8 of Algorithm 1 has N || 0.
 */
#include <stddef.h>

#include "aes.h"
#include "crypto_aead.h"

#define N 16
#define TAGBYTES CRYPTO_ABYTES

/* Constants of Fmt: end of input, end of type, partial block, message */
#define EOI 8
#define EOT 4
#define PARTIAL 2
#define TYPE 1

typedef struct {
    uint8_t y[N];
    aes_block k;
} mixfeed;

/* (y, k) = E(k, y): AES-128 with MixColumns in the last round, too, and one
 * more step of the key schedule. */
static void e(mixfeed *s)
{
    aes_block x;
    uint8_t rcon = 0x01, i;

    aes_load(&x, s->y);
    aes_add(&x, &s->k);
    for (i = 0; i < 10; i++) {
        rcon = aes_sub_bytes_next_key(&x, &s->k, rcon);
        aes_shift_rows(&x);
        aes_mix_columns(&x);
        aes_add(&x, &s->k);
    }
    aes_next_key(&s->k, rcon);
    aes_store(s->y, &x);
}

static void load_nonce(mixfeed *s, const uint8_t *npub, uint8_t constant)
{
    uint8_t i;

    s->y[0] = constant;
    for (i = 1; i < N; i++)
        s->y[i] = npub[i - 1];
}

/* proc_txt with D not empty: D' = D + Y, and X = Y + B, where B is the lower
 * half of the plaintext and the upper half of the ciphertext.  decrypt is 0
 * or 0xff; out may be NULL. */
static void proc_txt(mixfeed *s, uint8_t *out, const uint8_t *in, size_t len,
                     uint8_t delta, uint8_t decrypt)
{
    if (len % N != 0)
        delta |= PARTIAL;
    while (len != 0) {
        uint8_t n = (uint8_t)(len < N ? len : N), i;

        for (i = 0; i < n; i++) {
            uint8_t d = *in++, y = s->y[i], to = d ^ y;

            if (out != NULL)
                *out++ = to;
            /* Y + plaintext, or Y + ciphertext */
            s->y[i] = to ^ (y & (i < N / 2 ? decrypt : (uint8_t)~decrypt));
        }
        if (n < N)
            s->y[n] ^= 0x01;
        e(s);
        len -= n;
    }
    s->y[0] ^= delta;
    e(s);
}

static void crypt(mixfeed *s, const uint8_t *k, const uint8_t *npub,
                  const uint8_t *ad, size_t adlen, uint8_t *out,
                  const uint8_t *in, size_t len, uint8_t decrypt)
{
    uint8_t constant = adlen != 0 ? 0 : len != 0 ? 1 : 2;

    aes_load_key(&s->k, k);
    load_nonce(s, npub, constant);
    e(s);
    if (constant == 2)
        return;
    aes_load_key(&s->k, s->y); /* K_N */
    load_nonce(s, npub, constant);
    e(s);
    if (adlen != 0)
        proc_txt(s, NULL, ad, adlen, len != 0 ? EOT : EOI | EOT, 0);
    if (len != 0)
        proc_txt(s, out, in, len, EOI | EOT | TYPE, decrypt);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    mixfeed s;
    size_t len = (size_t)mlen;
    uint8_t i;

    (void)nsec;
    *clen = len + TAGBYTES;
    crypt(&s, k, npub, ad, (size_t)adlen, c, m, len, 0);
    for (i = 0; i < TAGBYTES; i++)
        c[len + i] = s.y[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    mixfeed s;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    crypt(&s, k, npub, ad, (size_t)adlen, m, c, len, 0xFF);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(s.y[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
