/* SAEF, sequential authenticated encryption from a forkcipher (Figure 8). */
#include "forkae.h"

/* The flags f of section 4.3 */
#define A_MAIN 0
#define A_LAST 2
#define A_LAST_INCOMPLETE 3
#define NO_M 4
#define M_MAIN 1
#define M_LAST 4
#define M_LAST_INCOMPLETE 5
#define FIRST 8 /* the bit before f, which follows the nonce */

typedef struct {
    uint8_t tk[FORK_T];    /* K and T || f */
    uint8_t delta[FORK_N]; /* Delta */
} saef;

static void set_flags(saef *z, uint8_t f)
{
    uint8_t *x = z->tk + FORK_T - 1;

    *x = (uint8_t)((*x & FIRST) | f);
}

/* T = 0: only the first call has the nonce. */
static void clear_tweak(saef *z)
{
    memset(z->tk + 16, 0, FORK_T - 16);
}

/* Delta = F^(T || f, 1)(x + Delta) */
static void absorb(saef *z, const uint8_t *x, uint8_t f)
{
    set_flags(z, f);
    forkae_add(z->delta, x);
    forkskinny_right(z->delta, z->delta, z->tk);
    clear_tweak(z);
}

/* c, Delta = F^(T || f, b)(x + Delta) + (Delta, 0), for c and x one block */
static void encrypt(saef *z, uint8_t *x, uint8_t f)
{
    uint8_t delta[FORK_N];

    set_flags(z, f);
    memcpy(delta, z->delta, FORK_N);
    forkae_add(x, delta);
    forkskinny_both(x, z->delta, x, z->tk);
    forkae_add(x, delta);
    clear_tweak(z);
}

/* m, Delta = F^-1^(T || f, 0, b)(x + Delta) + (Delta, 0) */
static void decrypt(saef *z, uint8_t *x, uint8_t f)
{
    uint8_t delta[FORK_N];

    set_flags(z, f);
    memcpy(delta, z->delta, FORK_N);
    forkae_add(x, delta);
    forkskinny_inverse(x, z->delta, x, z->tk);
    forkae_add(x, delta);
    clear_tweak(z);
}

/* Lines 4 to 20: nonce, key and associated data */
static void associate(saef *z, const uint8_t *ad, size_t adlen, size_t mlen,
                      const uint8_t *npub, const uint8_t *k)
{
    uint8_t x[FORK_N], no_m = mlen == 0 ? NO_M : 0;

    memset(z, 0, sizeof *z);
    memcpy(z->tk, k, 16);
    memcpy(z->tk + 16, npub, CRYPTO_NPUBBYTES);
    z->tk[FORK_T - 1] = FIRST;
    for (; adlen > FORK_N; adlen -= FORK_N) {
        absorb(z, ad, A_MAIN);
        ad += FORK_N;
    }
    if (adlen == FORK_N) {
        absorb(z, ad, A_LAST | no_m);
    } else if (adlen != 0 || mlen == 0) {
        forkae_pad(x, ad, adlen);
        absorb(z, x, A_LAST_INCOMPLETE | no_m);
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    saef z;
    uint8_t x[FORK_N];
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    associate(&z, ad, (size_t)adlen, len, npub, k);
    if (len == 0) {
        memcpy(c, z.delta, FORK_N);
        return 0;
    }
    for (; len > FORK_N; len -= FORK_N) {
        memcpy(x, m, FORK_N);
        encrypt(&z, x, M_MAIN);
        memcpy(c, x, FORK_N);
        m += FORK_N;
        c += FORK_N;
    }
    if (len == FORK_N) {
        memcpy(x, m, FORK_N);
        encrypt(&z, x, M_LAST);
    } else {
        forkae_pad(x, m, len);
        encrypt(&z, x, M_LAST_INCOMPLETE);
    }
    memcpy(c, x, FORK_N);
    memcpy(c + FORK_N, z.delta, len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    saef z;
    uint8_t x[FORK_N], difference = 0, i;
    size_t len = (size_t)clen, left;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    associate(&z, ad, (size_t)adlen, len, npub, k);
    if (len == 0) {
        for (i = 0; i < FORK_N; i++)
            difference |= (uint8_t)(c[i] ^ z.delta[i]);
        return forkae_release(difference, m, mlen, 0);
    }
    for (left = len; left > FORK_N; left -= FORK_N) {
        memcpy(x, c, FORK_N);
        decrypt(&z, x, M_MAIN);
        memcpy(m, x, FORK_N);
        c += FORK_N;
        m += FORK_N;
    }
    memcpy(x, c, FORK_N);
    decrypt(&z, x, left == FORK_N ? M_LAST : M_LAST_INCOMPLETE);
    difference = forkae_differ(c + FORK_N, x, z.delta, (uint8_t)left);
    memcpy(m, x, left);
    return forkae_release(difference, m - (len - left), mlen, len);
}
