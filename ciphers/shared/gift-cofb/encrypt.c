/*
 * GIFT-COFB: the mode COFB (section 2.5 of the specification, Figure 2.3).
 */
#include "api.h"
#include "crypto_aead.h"
#include "gift128.h"

#define TAGBYTES CRYPTO_ABYTES

typedef struct {
    gift128_key key;
    uint8_t y[16]; /* Y[i] */
    uint8_t l[8];  /* L */
} cofb;

/* L = 2 * L, in GF(2^64) modulo x^64 + x^4 + x^3 + x + 1 */
static void double_l(cofb *z)
{
    uint8_t carry = (uint8_t)(z->l[0] >> 7), i;

    for (i = 0; i < 7; i++)
        z->l[i] = (uint8_t)(z->l[i] << 1 | z->l[i + 1] >> 7);
    z->l[7] = (uint8_t)(z->l[7] << 1 ^ (-carry & 0x1b));
}

/* L = 3 * L */
static void triple_l(cofb *z)
{
    uint8_t l[8], i;

    for (i = 0; i < 8; i++)
        l[i] = z->l[i];
    double_l(z);
    for (i = 0; i < 8; i++)
        z->l[i] ^= l[i];
}

/* Y[i] = E_K(X[i]) with X[i] = block + G * Y[i - 1] + L || 0, where
 * G * Y = (Y[2], Y[1] <<< 1) for the halves Y[1] and Y[2] of Y. */
static void step(cofb *z, const uint8_t *block)
{
    uint8_t *y = z->y;

#if defined(GIFT128_FAST) && !defined(__AVR__)
    uint32_t y0 = GIFT128_LOAD32(y), y1 = GIFT128_LOAD32(y + 4);
    uint32_t x0 = GIFT128_LOAD32(y + 8) ^ GIFT128_LOAD32(z->l);
    uint32_t x1 = GIFT128_LOAD32(y + 12) ^ GIFT128_LOAD32(z->l + 4);
    uint32_t x2 = y0 << 1 | y1 >> 31;
    uint32_t x3 = y1 << 1 | y0 >> 31;

    x0 ^= GIFT128_LOAD32(block);
    x1 ^= GIFT128_LOAD32(block + 4);
    x2 ^= GIFT128_LOAD32(block + 8);
    x3 ^= GIFT128_LOAD32(block + 12);
    GIFT128_STORE32(y, x0);
    GIFT128_STORE32(y + 4, x1);
    GIFT128_STORE32(y + 8, x2);
    GIFT128_STORE32(y + 12, x3);
#else
    uint8_t first = y[0], i;

    for (i = 0; i < 8; i++) {
        uint8_t next = i < 7 ? y[i + 1] : first;
        uint8_t x = (uint8_t)(y[i] << 1 | next >> 7);

        y[i] = (uint8_t)(y[8 + i] ^ z->l[i] ^ block[i]);
        y[8 + i] = x ^ block[8 + i];
    }
#endif
    gift128_encrypt(&z->key, y);
}

/* Last block: multiplies L by 3 if it is full, by 3^2 if not, and pads it. */
static void last(cofb *z, uint8_t *block, uint8_t n)
{
    triple_l(z);
    if (n < 16) {
        triple_l(z);
        block[n] = 0x80;
        while (++n < 16)
            block[n] = 0;
    }
}

/* Steps 1, 2 and 5 to 13 */
static void cofb_start(cofb *z, const uint8_t *k, const uint8_t *npub,
                       const uint8_t *ad, size_t adlen, size_t mlen)
{
    uint8_t block[16], i, n;

    gift128_set_key(&z->key, k);
    for (i = 0; i < 16; i++)
        z->y[i] = npub[i];
    gift128_encrypt(&z->key, z->y);
    for (i = 0; i < 8; i++)
        z->l[i] = z->y[i];

    do {
        n = (uint8_t)(adlen < 16 ? adlen : 16);
        for (i = 0; i < n; i++)
            block[i] = *ad++;
        adlen -= n;
        if (adlen != 0) {
            double_l(z);
        } else {
            last(z, block, n);
            if (mlen == 0) {
                triple_l(z);
                triple_l(z);
            }
        }
        step(z, block);
    } while (adlen != 0);
}

/* Steps 14 to 26 of encryption, decrypt = 0, and of decryption, decrypt = 1:
 * the block of the state is the plaintext in both. */
static void cofb_crypt(cofb *z, uint8_t *out, const uint8_t *in, size_t len,
                       uint8_t decrypt)
{
    while (len != 0) {
        uint8_t block[16], i;
        uint8_t n = (uint8_t)(len < 16 ? len : 16);

        for (i = 0; i < n; i++) {
            uint8_t x = *in++;
            uint8_t y = x ^ z->y[i];

            block[i] = (uint8_t)(decrypt ? y : x);
            *out++ = y;
        }
        len -= n;
        if (len != 0)
            double_l(z);
        else
            last(z, block, n);
        step(z, block);
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    cofb z;
    size_t len = (size_t)mlen;
    uint8_t i;

    (void)nsec;
    *clen = len + TAGBYTES;
    cofb_start(&z, k, npub, ad, (size_t)adlen, len);
    cofb_crypt(&z, c, m, len, 0);
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
    cofb z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    cofb_start(&z, k, npub, ad, (size_t)adlen, len);
    cofb_crypt(&z, m, c, len, 1);

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
