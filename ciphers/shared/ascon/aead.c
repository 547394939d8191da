/*
 * Ascon authenticated encryption: Ascon-AEAD128 (SP 800-232, section 4) and
 * Ascon-128 (Ascon v1.2, "Authenticated Encryption"), which have the mode in
 * common and differ in "parameters.h".
 */
#include <stddef.h>
#include <string.h>

#include "api.h"
#include "ascon.h"
#include "crypto_aead.h"

enum { ASSOCIATED_DATA, ENCRYPT, DECRYPT };

/* The n <= 8 next bytes of the input meet word i of the state. */
static void process_word(ascon_state *s, uint8_t i, unsigned char *out,
                         const unsigned char *in, uint8_t n, uint8_t what)
{
    if (what == DECRYPT) {
        ascon_decrypt(s, i, out, in, n);
    } else {
        ascon_add(s, i, in, n);
        if (what == ENCRYPT)
            ascon_extract(s, i, out, n);
    }
}

/*
 * Absorb len bytes block by block, with p^b between the blocks but not after
 * the last one, which is padded with 1 || 0*.
 */
static void process(ascon_state *s, unsigned char *out,
                    const unsigned char *in, size_t len, uint8_t what)
{
    uint8_t i = 0;

    while (len >= 8) {
        process_word(s, i, out, in, 8, what);
        in += 8;
        if (what != ASSOCIATED_DATA)
            out += 8;
        len -= 8;
        if (++i == ASCON_RATE / 8) {
            ascon_permute(s, ASCON_B);
            i = 0;
        }
    }
    if (len != 0)
        process_word(s, i, out, in, (uint8_t)len, what);
    ascon_add_padding(s, i, (uint8_t)len);
}

/* Add the key to words i and i + 1. */
static void add_key(ascon_state *s, uint8_t i, const unsigned char *k)
{
    ascon_add(s, i, k, 8);
    ascon_add(s, (uint8_t)(i + 1), k + 8, 8);
}

/* All steps but those after the last block of plaintext or ciphertext. */
static void run(ascon_state *s, unsigned char *out, const unsigned char *in,
                size_t len, uint8_t what, const unsigned char *ad, size_t adlen,
                const unsigned char *npub, const unsigned char *k)
{
    /* Initialization: S <- IV || K || N, p^a, S <- S ^ (0* || K) */
    memset(s, 0, sizeof *s);
    ASCON_ADD_CONSTANT(s, 0, ASCON_IV);
    add_key(s, 1, k);
    ascon_add(s, 3, npub, 8);
    ascon_add(s, 4, npub + 8, 8);
    ascon_permute(s, ASCON_A);
    add_key(s, 3, k);

    /* Associated data, then the domain separation bit */
    if (adlen != 0) {
        process(s, NULL, ad, adlen, ASSOCIATED_DATA);
        ascon_permute(s, ASCON_B);
    }
    ASCON_ADD_CONSTANT(s, 4, ASCON_SEPARATION);

    /* Plaintext or ciphertext */
    process(s, out, in, len, what);

    /* Finalization: S <- p^a(S ^ (0^r || K || 0*)), T <- last 128 bits ^ K */
    add_key(s, ASCON_RATE / 8, k);
    ascon_permute(s, ASCON_A);
    add_key(s, 3, k);
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
    run(&s, c, m, len, ENCRYPT, ad, (size_t)adlen, npub, k);
    ascon_extract(&s, 3, c + len, 8);
    ascon_extract(&s, 4, c + len + 8, 8);
    *clen = len + CRYPTO_ABYTES;
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
    run(&s, m, c, len, DECRYPT, ad, (size_t)adlen, npub, k);
    ascon_extract(&s, 3, t, 8);
    ascon_extract(&s, 4, t + 8, 8);
    c += len;
    for (i = 0; i < CRYPTO_ABYTES; i++)
        difference |= t[i] ^ c[i];
    if (difference == 0)
        return 0;
    if (len != 0)
        memset(m, 0, len);
    return -1;
}
