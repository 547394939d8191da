/*
 * SKINNY-AEAD: the mode ThetaCB3 (section 2.4 of the specification).
 */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "skinny128.h"

/* Domain separation: bits b_4 and b_3 tell the lengths of nonce and tag. */
#define MEMBER                                                               \
    ((CRYPTO_NPUBBYTES == 12 ? 0x10 : 0) | (CRYPTO_ABYTES == 8 ? 0x08 : 0))
#define FULL_M (MEMBER | 0)      /* d_0 */
#define PARTIAL_M (MEMBER | 1)   /* d_1 */
#define FULL_A (MEMBER | 2)      /* d_2 */
#define PARTIAL_A (MEMBER | 3)   /* d_3 */
#define TAG (MEMBER | 4)         /* d_4 */
#define TAG_PARTIAL (MEMBER | 5) /* d_5 */

/* The parts of the tweakey */
#if SKINNY_TK == 3
#define LFSR_BYTES 8 /* rev64(LFSR) || 0^56 || d || N (|| 0^32) || K */
#define LFSR_LOW 0x1b
#define D_AT 15
#define N_AT 16
#define K_AT 32
#else
#define LFSR_BYTES 3 /* rev24(LFSR) || d || N || K */
#define LFSR_LOW 0x1b
#define D_AT 3
#define N_AT 4
#define K_AT 16
#endif

typedef struct {
    uint8_t tk[16 * SKINNY_TK];
    uint8_t auth[16];
    uint8_t sigma[16];
} thetacb3;

#if SKINNY_TK == 3
#define ENCRYPT(z, x) skinny128_encrypt(x, (z)->tk, (z)->tk + 16, (z)->tk + 32)
#define DECRYPT(z, x) skinny128_decrypt(x, (z)->tk, (z)->tk + 16, (z)->tk + 32)
#else
#define ENCRYPT(z, x) skinny128_encrypt(x, (z)->tk, (z)->tk + 16)
#define DECRYPT(z, x) skinny128_decrypt(x, (z)->tk, (z)->tk + 16)
#endif

/* x = SKINNY(x) in domain d */
static void encipher(thetacb3 *z, uint8_t d, uint8_t *x)
{
    z->tk[D_AT] = d;
    ENCRYPT(z, x);
}

/* LFSR = 1 */
static void start_lfsr(thetacb3 *z)
{
    memset(z->tk, 0, LFSR_BYTES);
    z->tk[0] = 1;
}

/* upd64 or upd24; the tweakey has its bytes reversed, the lowest first. */
static void update_lfsr(thetacb3 *z)
{
    uint8_t carry = 0, i;

    for (i = 0; i < LFSR_BYTES; i++) {
        uint8_t out = (uint8_t)(z->tk[i] >> 7);

        z->tk[i] = (uint8_t)(z->tk[i] << 1 | carry);
        carry = out;
    }
    z->tk[0] ^= (uint8_t)(-carry & LFSR_LOW);
}

static void add(uint8_t *x, const uint8_t *y, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        x[i] ^= y[i];
}

/* Nonce and key, and Auth of the associated data */
static void associate(thetacb3 *z, const uint8_t *ad, size_t adlen,
                      const uint8_t *npub, const uint8_t *k)
{
    uint8_t x[16];

    memset(z, 0, sizeof *z);
    memcpy(z->tk + N_AT, npub, CRYPTO_NPUBBYTES);
    memcpy(z->tk + K_AT, k, 16);

    start_lfsr(z);
    for (; adlen >= 16; adlen -= 16) {
        memcpy(x, ad, 16);
        encipher(z, FULL_A, x);
        add(z->auth, x, 16);
        update_lfsr(z);
        ad += 16;
    }
    if (adlen != 0) {
        memset(x, 0, 16);
        memcpy(x, ad, adlen);
        x[adlen] = 0x80;
        encipher(z, PARTIAL_A, x);
        add(z->auth, x, 16);
    }
}

/* The message, or ciphertext; the tag is left in Auth. */
static void crypt(thetacb3 *z, uint8_t *out, const uint8_t *in, size_t len,
                  uint8_t decrypt)
{
    uint8_t x[16];

    start_lfsr(z);
    for (; len >= 16; len -= 16) {
        memcpy(x, in, 16);
        if (decrypt) {
            z->tk[D_AT] = FULL_M;
            DECRYPT(z, x);
            add(z->sigma, x, 16);
        } else {
            add(z->sigma, x, 16);
            encipher(z, FULL_M, x);
        }
        memcpy(out, x, 16);
        update_lfsr(z);
        in += 16;
        out += 16;
    }
    if (len != 0) {
        uint8_t n = (uint8_t)len;

        memset(x, 0, 16);
        encipher(z, PARTIAL_M, x); /* R */
        if (!decrypt)
            add(z->sigma, in, n);
        add(x, in, n);
        if (decrypt)
            add(z->sigma, x, n);
        memcpy(out, x, n);
        z->sigma[n] ^= 0x80;
        update_lfsr(z);
    }
    encipher(z, len != 0 ? TAG_PARTIAL : TAG, z->sigma);
    add(z->auth, z->sigma, 16);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    thetacb3 z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    associate(&z, ad, (size_t)adlen, npub, k);
    crypt(&z, c, m, len, 0);
    memcpy(c + len, z.auth, CRYPTO_ABYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    thetacb3 z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    associate(&z, ad, (size_t)adlen, npub, k);
    crypt(&z, m, c, len, 1);

    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= (uint8_t)(z.auth[i] ^ c[len + i]);
    if (difference != 0) {
        if (len != 0)
            memset(m, 0, len);
        return -1;
    }
    *mlen = len;
    return 0;
}
