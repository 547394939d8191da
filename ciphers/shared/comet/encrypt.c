/*
 * COMET (specification of September 26, 2019): Algorithms 1 to 3 with
 * kappa = 128.  Byte 0 of a string is its least significant one.
 *
 * From params.h: COMET_BLOCK, n in bytes, 16 or 8; COMET_SUBMITTED, see crypt.
 */
#include "comet.h"
#include "crypto_aead.h"

#define N COMET_BLOCK
#define TAGBYTES CRYPTO_ABYTES

/* Control bits, in the most significant byte of Z */
#define CTRL_AD 0x08
#define CTRL_P_AD 0x10
#define CTRL_PT 0x20
#define CTRL_P_PT 0x40
#define CTRL_TG 0x80

typedef struct {
    uint8_t y[N];
    uint8_t z[16];
} comet;

/* permute: the lower half of Z by alpha = 2 in GF(2^64) */
static void permute(uint8_t *z)
{
    uint8_t carry = (uint8_t)(0x1B & (0 - (z[7] >> 7))), i;

    for (i = 0; i < 8; i++) {
        uint8_t x = z[i];

        z[i] = (uint8_t)(x << 1 ^ carry);
        carry = x >> 7;
    }
}

/* get_blk_key and the call of IC */
static void next(comet *s)
{
    permute(s->z);
    comet_cipher(s->y, s->z);
}

static void init(comet *s, const uint8_t *k, const uint8_t *npub)
{
    uint8_t i;

#if N == 16
    for (i = 0; i < 16; i++) {
        s->y[i] = k[i];
        s->z[i] = npub[i];
    }
    comet_cipher(s->z, k);
#else
    for (i = 0; i < N; i++)
        s->y[i] = 0;
    comet_cipher(s->y, k);
    for (i = 0; i < CRYPTO_NPUBBYTES; i++)
        s->z[i] = k[i] ^ npub[i];
    s->z[15] = k[15];
#endif
}

/* proc_ad */
static void absorb(comet *s, const uint8_t *ad, size_t len)
{
    s->z[15] ^= CTRL_AD;
    while (len != 0) {
        uint8_t n = (uint8_t)(len < N ? len : N), i;

        if (n < N)
            s->z[15] ^= CTRL_P_AD;
        next(s);
        for (i = 0; i < n; i++)
            s->y[i] ^= *ad++;
        if (n < N)
            s->y[n] ^= 0x01;
        len -= n;
    }
}

static void shuffle(uint8_t *x, const uint8_t *y)
{
    uint8_t i;

    for (i = 0; i < N / 4; i++) {
        uint8_t above = (uint8_t)((i + 1) % (N / 4));

        x[i] = y[3 * N / 4 + i];
        x[N / 4 + i] = (uint8_t)(y[N / 2 + i] >> 1 | y[N / 2 + above] << 7);
        x[N / 2 + i] = y[i];
        x[3 * N / 4 + i] = y[N / 4 + i];
    }
}

/* proc_pt, decrypt = 0, and proc_ct, decrypt = 0xff */
static void crypt(comet *s, uint8_t *out, const uint8_t *in, size_t len,
                  uint8_t decrypt)
{
#ifdef COMET_SUBMITTED
    s->z[0] ^= CTRL_PT; /* the least significant byte */
#else
    s->z[15] ^= CTRL_PT;
#endif
    while (len != 0) {
        uint8_t n = (uint8_t)(len < N ? len : N), x[N], i;

        if (n < N)
            s->z[15] ^= CTRL_P_PT;
        next(s);
        shuffle(x, s->y);
        for (i = 0; i < n; i++) {
            uint8_t from = *in++, to = from ^ x[i];

            s->y[i] ^= from ^ (decrypt & x[i]);
            *out++ = to;
        }
        if (n < N)
            s->y[n] ^= 0x01;
        len -= n;
    }
}

static void comet_crypt(comet *s, const uint8_t *k, const uint8_t *npub,
                        const uint8_t *ad, size_t adlen, uint8_t *out,
                        const uint8_t *in, size_t len, uint8_t decrypt)
{
    init(s, k, npub);
    if (adlen != 0)
        absorb(s, ad, adlen);
    if (len != 0)
        crypt(s, out, in, len, decrypt);

    /* proc_tg */
    s->z[15] ^= CTRL_TG;
    next(s);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    comet s;
    size_t len = (size_t)mlen;
    uint8_t i;

    (void)nsec;
    *clen = len + TAGBYTES;
    comet_crypt(&s, k, npub, ad, (size_t)adlen, c, m, len, 0);
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
    comet s;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    comet_crypt(&s, k, npub, ad, (size_t)adlen, m, c, len, 0xFF);
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
