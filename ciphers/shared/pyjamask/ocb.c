/*
 * Pyjamask-96-AEAD and Pyjamask-128-AEAD: OCB (section 2.3), blocks in rows.
 *
 * The offsets L_i are not kept in a table: L_ntz(i) is L_0 doubled ntz(i)
 * times, once for a block on the average.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_aead.h"
#include "pyjamask.h"

#define ROWS PYJAMASK_ROWS
#define BLOCK PYJAMASK_BLOCK
#define TAGBYTES CRYPTO_ABYTES

#if ROWS == 4
#define POLYNOMIAL 0x87u   /* x^128 + x^7 + x^2 + x + 1 */
#define STRETCH_SHIFT 8
#else
#define POLYNOMIAL 0x641u  /* x^96 + x^10 + x^9 + x^6 + 1 */
#define STRETCH_SHIFT 9
#endif

typedef struct {
    pyjamask_key key;
    uint32_t l_star[ROWS];
    uint32_t offset[ROWS]; /* O_i */
    uint32_t sum[ROWS];    /* sum_i, S_i */
} ocb;

static void add(uint32_t *x, const uint32_t *y)
{
    uint8_t i;

    for (i = 0; i < ROWS; i++)
        x[i] ^= y[i];
}

static void clear(uint32_t *x)
{
    uint8_t i;

    for (i = 0; i < ROWS; i++)
        x[i] = 0;
}

/* x = dbl(x) */
static void dbl(uint32_t *x)
{
    uint32_t carry = x[0] >> 31;
    uint8_t i;

    for (i = 0; i < ROWS - 1; i++)
        x[i] = x[i] << 1 | x[i + 1] >> 31;
    x[i] = x[i] << 1 ^ ((0 - carry) & POLYNOMIAL);
}

/* O_i = O_(i-1) ^ L_ntz(i), with i > 0 */
static void next_offset(ocb *z, size_t i)
{
    uint32_t l[ROWS];
    uint8_t j;

    for (j = 0; j < ROWS; j++)
        l[j] = z->l_star[j];
    dbl(l); /* L_$ */
    dbl(l); /* L_0 */
    for (; (i & 1) == 0; i >>= 1)
        dbl(l);
    add(z->offset, l);
}

/* x = p || 1 || 0*, with n < BLOCK bytes of p */
static void load_padded(uint32_t *x, const uint8_t *p, uint8_t n)
{
    uint8_t block[BLOCK], i;

    for (i = 0; i < BLOCK; i++)
        block[i] = (uint8_t)(i < n ? p[i] : i == n ? 0x80 : 0);
    pyjamask_load(x, block);
}

/* The sum becomes HASH(K, A). */
static void hash(ocb *z, const uint8_t *ad, size_t adlen)
{
    uint32_t x[ROWS];
    size_t i = 0;

    clear(z->offset);
    clear(z->sum);
    for (; adlen >= BLOCK; adlen -= BLOCK) {
        next_offset(z, ++i);
        pyjamask_load(x, ad);
        add(x, z->offset);
        pyjamask_encrypt(&z->key, x);
        add(z->sum, x);
        ad += BLOCK;
    }
    if (adlen != 0) {
        add(z->offset, z->l_star);
        load_padded(x, ad, (uint8_t)adlen);
        add(x, z->offset);
        pyjamask_encrypt(&z->key, x);
        add(z->sum, x);
    }
}

/* O_0 (equation 5) */
static void start(ocb *z, const uint8_t *npub)
{
    uint8_t nonce[BLOCK], bottom, i;
    uint32_t stretch[ROWS + 2], *ktop = stretch, *p = stretch;

    /* the length of the tag modulo 128 in seven bits, and 0*1 || N */
    for (i = 0; i < BLOCK; i++)
        nonce[i] = 0;
    nonce[0] = (uint8_t)(8 * TAGBYTES % 128 << 1);
    nonce[BLOCK - CRYPTO_NPUBBYTES - 1] |= 1;
    for (i = 0; i < CRYPTO_NPUBBYTES; i++)
        nonce[BLOCK - CRYPTO_NPUBBYTES + i] = npub[i];
    bottom = nonce[BLOCK - 1] & 0x3f;
    nonce[BLOCK - 1] &= 0xc0;

    pyjamask_load(ktop, nonce);
    pyjamask_encrypt(&z->key, ktop);
    for (i = 0; i < 2; i++)
        stretch[ROWS + i] = ktop[i] ^ (ktop[i] << STRETCH_SHIFT |
                                       ktop[i + 1] >> (32 - STRETCH_SHIFT));
    if (bottom >= 32) {
        bottom = (uint8_t)(bottom - 32);
        p++;
    }
    for (i = 0; i < ROWS; i++) {
        z->offset[i] = p[i];
        if (bottom != 0)
            z->offset[i] = p[i] << bottom | p[i + 1] >> (32 - bottom);
    }
}

/* Equations 6 to 8 and 9 to 11; leaves sum ^ O_$ in the sum. */
static void crypt(ocb *z, const uint8_t *npub, uint8_t *out,
                  const uint8_t *in, size_t len, uint8_t decrypt)
{
    uint32_t x[ROWS];
    size_t i = 0;
    uint8_t j;

    start(z, npub);
    clear(z->sum);
    for (; len >= BLOCK; len -= BLOCK) {
        next_offset(z, ++i);
        pyjamask_load(x, in);
        if (decrypt) {
            add(x, z->offset);
            pyjamask_decrypt(&z->key, x);
            add(x, z->offset);
            add(z->sum, x);
        } else {
            add(z->sum, x);
            add(x, z->offset);
            pyjamask_encrypt(&z->key, x);
            add(x, z->offset);
        }
        pyjamask_unload(out, x);
        in += BLOCK;
        out += BLOCK;
    }
    if (len != 0) {
        uint8_t pad[BLOCK];

        add(z->offset, z->l_star);
        for (j = 0; j < ROWS; j++)
            x[j] = z->offset[j];
        pyjamask_encrypt(&z->key, x);
        pyjamask_unload(pad, x);
        if (!decrypt)
            load_padded(x, in, (uint8_t)len);
        for (j = 0; j < len; j++)
            out[j] = in[j] ^ pad[j];
        if (decrypt)
            load_padded(x, out, (uint8_t)len);
        add(z->sum, x);
    }
    for (j = 0; j < ROWS; j++)
        x[j] = z->l_star[j];
    dbl(x);
    add(z->sum, z->offset);
    add(z->sum, x);
}

/* tag = E_K(sum ^ O_$) ^ HASH(K, A) */
static void tag(ocb *z, uint8_t *t, const uint8_t *ad, size_t adlen)
{
    uint32_t x[ROWS];
    uint8_t i;

    for (i = 0; i < ROWS; i++)
        x[i] = z->sum[i];
    pyjamask_encrypt(&z->key, x);
    hash(z, ad, adlen);
    add(x, z->sum);
    pyjamask_unload(t, x);
}

static void init(ocb *z, const uint8_t *k)
{
    pyjamask_set_key(&z->key, k);
    clear(z->l_star);
    pyjamask_encrypt(&z->key, z->l_star);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    ocb z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    init(&z, k);
    crypt(&z, npub, c, m, len, 0);
    tag(&z, c + len, ad, (size_t)adlen);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    ocb z;
    uint8_t t[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    init(&z, k);
    crypt(&z, npub, m, c, len, 1);
    tag(&z, t, ad, (size_t)adlen);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
