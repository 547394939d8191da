/*
 * Ascon authenticated encryption: Ascon-AEAD128 (SP 800-232, section 4) and
 * Ascon-128, Ascon-128a and Ascon-80pq (Ascon v1.2, "Authenticated
 * Encryption"), which have the mode in common and differ in "parameters.h".
 */
#include <stddef.h>
#include <string.h>

#include "api.h"
#include "ascon.h"
#include "crypto_aead.h"

/*
 * Absorb len bytes block by block, with p^b between the blocks but not after
 * the last one, which is padded with 1 || 0*.
 */
static void process(ascon_state *s, unsigned char *out,
                    const unsigned char *in, size_t len, uint8_t what)
{
    uint8_t i = 0;

    for (;;) {
        uint8_t n = (uint8_t)(len < 8 ? len : 8);

        if (n != 0)
            ascon_crypt(s, i, out, in, n, what);
        if (n != 8) {
            ascon_add_padding(s, i, n);
            return;
        }
        in += 8;
        if (what != ASCON_ABSORB)
            out += 8;
        len -= 8;
        if (++i == ASCON_RATE / 8) {
            ascon_permute(s, ASCON_B);
            i = 0;
        }
    }
}

/* Add 16 bytes, a key or a nonce, to words i and i + 1. */
static void add_pair(ascon_state *s, uint8_t i, const unsigned char *p)
{
    ascon_add(s, i, p, 8);
    ascon_add(s, (uint8_t)(i + 1), p + 8, 8);
}

/*
 * add_key: K to the end of words i .. i + 2, of which it leaves 64 or, in
 * Ascon-80pq, 32 bits in front.  add_key_after_rate: K from word r / 64 on.
 */
#if CRYPTO_KEYBYTES == 16
#define add_key(s, i, k) add_pair(s, (i) + 1, k)
#define add_key_after_rate(s, k) add_pair(s, ASCON_RATE / 8, k)
#else
static void add_key(ascon_state *s, uint8_t i, const unsigned char *k)
{
    unsigned char t[24] = { 0 };

    memcpy(t + sizeof t - CRYPTO_KEYBYTES, k, CRYPTO_KEYBYTES);
    ascon_add(s, i, t, 8);
    add_pair(s, (uint8_t)(i + 1), t + 8);
}

static void add_key_after_rate(ascon_state *s, const unsigned char *k)
{
    add_pair(s, ASCON_RATE / 8, k);
    ascon_add(s, ASCON_RATE / 8 + 2, k + 16, CRYPTO_KEYBYTES - 16);
}
#endif

/* Initialization and associated data. */
static void start(ascon_state *s, const unsigned char *ad, size_t adlen,
                  const unsigned char *npub, const unsigned char *k)
{
    /* S <- IV || K || N, p^a, S <- S ^ (0* || K) */
    memset(s, 0, sizeof *s);
    ASCON_ADD_CONSTANT(s, 0, ASCON_IV);
    add_key(s, 0, k);
    add_pair(s, 3, npub);
    ascon_permute(s, ASCON_A);
    add_key(s, 2, k);

    if (adlen != 0) {
        process(s, NULL, ad, adlen, ASCON_ABSORB);
        ascon_permute(s, ASCON_B);
    }
    /* domain separation */
    ASCON_ADD_CONSTANT(s, 4, ASCON_SEPARATION);
}

/* Finalization: S <- p^a(S ^ (0^r || K || 0*)), T <- last 128 bits ^ K. */
static void finish(ascon_state *s, unsigned char *t, const unsigned char *k)
{
    add_key_after_rate(s, k);
    ascon_permute(s, ASCON_A);
    add_pair(s, 3, k + CRYPTO_KEYBYTES - 16);
    ascon_extract(s, 3, t, 8);
    ascon_extract(s, 4, t + 8, 8);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    ascon_state s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    process(&s, c, m, len, ASCON_ENCRYPT);
    finish(&s, c + len, k);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    ascon_state s;
    unsigned char t[CRYPTO_ABYTES];
    unsigned char difference = 0;
    size_t len = (size_t)clen;
    uint8_t i;

    (void)nsec;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    *mlen = len;
    start(&s, ad, (size_t)adlen, npub, k);
    process(&s, m, c, len, ASCON_DECRYPT);
    finish(&s, t, k);

    c += len;
    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= t[i] ^ c[i];
    if (difference == 0)
        return 0;
    if (len != 0)
        memset(m, 0, len);
    return -1;
}
