/*
 * SAEAES (specification of February 25, 2019): the mode SAEB, Algorithm 1,
 * over AES.  SAEAES_R1 of params.h is the length of a block of associated
 * data in bytes.
 */
#include <stddef.h>

#include "aes.h"
#include "crypto_aead.h"
#include "params.h"

#define TAGBYTES CRYPTO_ABYTES /* tau */
#define BLOCK 16
#define R 8
#define R2 15

/* ozp of a last block of len < r bytes, which has been added, and the
 * constant 2; 1 after a full block. */
static void pad(uint8_t *s, uint8_t len, uint8_t r)
{
    if (len == r) {
        s[BLOCK - 1] ^= 1;
    } else {
        s[len] ^= 0x80;
        s[BLOCK - 1] ^= 2;
    }
}

/* iv = Hash(N, A), without the addition of N || 3 at the end */
static void hash(const aes_key *key, uint8_t *sa, const uint8_t *a,
                 size_t len)
{
    uint8_t n, i;

    for (i = 0; i < BLOCK; i++)
        sa[i] = 0;
    for (;;) {
        n = (uint8_t)(len < SAEAES_R1 ? len : SAEAES_R1);
        for (i = 0; i < n; i++)
            sa[i] ^= *a++;
        len -= n;
        if (len == 0)
            break;
        aes_encrypt(key, sa);
    }
    pad(sa, n, SAEAES_R1);
    aes_encrypt(key, sa);
}

/* Core.Enc(iv, P), decrypt = 0, and Core.Dec(iv, C), decrypt = 0xff: in both
 * the first bytes of sm become those of C.  At the end sm begins with T. */
static void core(const aes_key *key, uint8_t *sm, uint8_t *out,
                 const uint8_t *in, size_t len, uint8_t decrypt)
{
    uint8_t n, i;

    aes_encrypt(key, sm);
    for (;;) {
        n = (uint8_t)(len < R ? len : R);
        for (i = 0; i < n; i++) {
            uint8_t x = *in++, y = x ^ sm[i];

            sm[i] = y ^ (decrypt & (x ^ y));
            *out++ = y;
        }
        len -= n;
        if (len == 0)
            break;
        aes_encrypt(key, sm);
    }
    pad(sm, n, R);
    aes_encrypt(key, sm);
}

static void saeb(const uint8_t *k, const uint8_t *npub, const uint8_t *ad,
                 size_t adlen, uint8_t *sm, uint8_t *out, const uint8_t *in,
                 size_t len, uint8_t decrypt)
{
    aes_key key;
    uint8_t i;

    aes_set_key(&key, k);
    hash(&key, sm, ad, adlen);
    for (i = 0; i < R2; i++)
        sm[i] ^= npub[i];
    sm[BLOCK - 1] ^= 3;
    core(&key, sm, out, in, len, decrypt);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    uint8_t sm[BLOCK], i;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    saeb(k, npub, ad, (size_t)adlen, sm, c, m, len, 0);
    for (i = 0; i < TAGBYTES; i++)
        c[len + i] = sm[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t sm[BLOCK], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    saeb(k, npub, ad, (size_t)adlen, sm, m, c, len, 0xFF);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(sm[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
