/* PAEF, parallel authenticated encryption from a forkcipher (Figure 6). */
#include "forkae.h"

/* The flags f0 f1 f2: message, incomplete block, final block */
#define MESSAGE 4
#define INCOMPLETE 2
#define FINAL 1

#define T_AT 16                         /* of the tweakey */
#define F_AT (T_AT + CRYPTO_NPUBBYTES)

typedef struct {
    uint8_t tk[FORK_T]; /* K and T = N || f0 f1 f2 || <i> */
    uint8_t s[FORK_N];  /* S */
} paef;

/* i = i + 1; the three bits of the flags share a byte with it. */
static void next_block(paef *z)
{
    uint8_t i = FORK_T;

    while (--i > F_AT)
        if (++z->tk[i] != 0)
            return;
    z->tk[i]++;
}

static void set_flags(paef *z, uint8_t f)
{
    uint8_t *x = z->tk + F_AT;

    *x = (uint8_t)((*x & 0x1f) | f << 5);
}

/* i = 0 */
static void start_blocks(paef *z)
{
    memset(z->tk + F_AT, 0, FORK_T - F_AT);
}

/* Lines 4 to 15: nonce, key and associated data */
static void associate(paef *z, const uint8_t *ad, size_t adlen, size_t mlen,
                      const uint8_t *npub, const uint8_t *k)
{
    uint8_t x[FORK_N];

    memset(z->s, 0, FORK_N);
    memcpy(z->tk, k, 16);
    memcpy(z->tk + T_AT, npub, CRYPTO_NPUBBYTES);
    start_blocks(z);
    for (; adlen > FORK_N; adlen -= FORK_N) {
        next_block(z);
        set_flags(z, 0);
        forkskinny_right(x, ad, z->tk);
        forkae_add(z->s, x);
        ad += FORK_N;
    }
    if (adlen == 0 && mlen != 0)
        return;
    next_block(z);
    if (adlen == FORK_N) {
        memcpy(x, ad, FORK_N);
        set_flags(z, FINAL);
    } else {
        forkae_pad(x, ad, adlen);
        set_flags(z, INCOMPLETE | FINAL);
    }
    forkskinny_right(x, x, z->tk);
    forkae_add(z->s, x);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    paef z;
    uint8_t x[FORK_N], t[FORK_N];
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    associate(&z, ad, (size_t)adlen, len, npub, k);
    if (len == 0) {
        memcpy(c, z.s, FORK_N);
        return 0;
    }
    start_blocks(&z);
    for (; len > FORK_N; len -= FORK_N) {
        next_block(&z);
        set_flags(&z, MESSAGE);
        forkskinny_both(c, t, m, z.tk);
        forkae_add(z.s, t);
        m += FORK_N;
        c += FORK_N;
    }
    next_block(&z);
    if (len == FORK_N) {
        memcpy(x, m, FORK_N);
        set_flags(&z, MESSAGE | FINAL);
    } else {
        forkae_pad(x, m, len);
        set_flags(&z, MESSAGE | INCOMPLETE | FINAL);
    }
    forkskinny_both(x, t, x, z.tk);
    forkae_add(x, z.s);
    memcpy(c, x, FORK_N);
    memcpy(c + FORK_N, t, len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    paef z;
    uint8_t x[FORK_N], t[FORK_N], difference = 0, i;
    size_t len = (size_t)clen, left;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    associate(&z, ad, (size_t)adlen, len, npub, k);
    if (len == 0) {
        for (i = 0; i < FORK_N; i++)
            difference |= (uint8_t)(c[i] ^ z.s[i]);
        return forkae_release(difference, m, mlen, 0);
    }
    start_blocks(&z);
    for (left = len; left > FORK_N; left -= FORK_N) {
        next_block(&z);
        set_flags(&z, MESSAGE);
        forkskinny_inverse(m, t, c, z.tk);
        forkae_add(z.s, t);
        c += FORK_N;
        m += FORK_N;
    }
    next_block(&z);
    set_flags(&z, left == FORK_N ? MESSAGE | FINAL
                                 : MESSAGE | INCOMPLETE | FINAL);
    forkae_add(z.s, c);
    forkskinny_inverse(x, t, z.s, z.tk);
    difference = forkae_differ(c + FORK_N, x, t, (uint8_t)left);
    memcpy(m, x, left);
    return forkae_release(difference, m - (len - left), mlen, len);
}
