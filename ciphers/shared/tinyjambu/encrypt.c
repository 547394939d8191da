/*
 * The TinyJAMBU mode (section 3.3 of the specification).
 *
 * P_NONCE_AD, from params.h, is the permutation of the nonce and associated
 * data steps: P384 in the round 1 and round 2 algorithm, P640 in the final one.
 * P_KEY_TEXT is that of the other steps: P1024, with keys of 192 and 256 bits
 * P1152 and P1280 (3.4, 3.5).
 */
#include "api.h"
#include "crypto_aead.h"
#include "params.h"
#include "tinyjambu.h"

#ifndef P_KEY_TEXT
#define P_KEY_TEXT TINYJAMBU_P1024
#endif

/* FrameBits (section 3.2.2), at their place in s_32 .. s_63 */
#define FRAMEBITS_NONCE ((uint32_t)1 << 4)
#define FRAMEBITS_AD ((uint32_t)3 << 4)
#define FRAMEBITS_PC ((uint32_t)5 << 4)
#define FRAMEBITS_FINALIZATION ((uint32_t)7 << 4)

#define TAGBYTES CRYPTO_ABYTES

/* The two first actions of every step. */
static void step(tinyjambu_state *state, const uint8_t *k,
                 uint32_t framebits, uint8_t passes)
{
    state->s[1] ^= framebits;
    tinyjambu_permute(state, k, passes);
}

/* The nonce setup (3.3.1) and the associated data (3.3.2) are the same loop:
 * the 12-byte nonce has no partial block. */
static void absorb(tinyjambu_state *state, const uint8_t *k,
                   uint32_t framebits, const uint8_t *ad, size_t adlen)
{
    while (adlen != 0) {
        uint8_t n = (uint8_t)(adlen < 4 ? adlen : 4), i;

        step(state, k, framebits, P_NONCE_AD);
        if (n < 4) /* partial block: its number of bytes */
            TINYJAMBU_BYTE(state, 4) ^= n;
        adlen -= n;
#ifdef TINYJAMBU_FAST
        if (n == 4) {
            state->s[3] ^= tinyjambu_load32(ad);
            ad += 4;
            continue;
        }
#endif
        for (i = 0; i < n; i++)
            TINYJAMBU_BYTE(state, 12 + i) ^= *ad++;
    }
}

/* 3.3.1 and 3.3.2 */
static void initialize(tinyjambu_state *state, const uint8_t *k,
                       const uint8_t *npub, const uint8_t *ad, size_t adlen)
{
    uint8_t i;

    /* key setup */
    for (i = 0; i < 4; i++)
        state->s[i] = 0;
    tinyjambu_permute(state, k, P_KEY_TEXT);
    /* nonce setup */
    absorb(state, k, FRAMEBITS_NONCE, npub, CRYPTO_NPUBBYTES);
    absorb(state, k, FRAMEBITS_AD, ad, adlen);
}

/* 3.3.3 (decrypt = 0) and 3.3.5 (decrypt = 1) */
static void crypt(tinyjambu_state *state, const uint8_t *k, uint8_t *out,
                  const uint8_t *in, size_t len, uint8_t decrypt)
{
    while (len != 0) {
        uint8_t n = (uint8_t)(len < 4 ? len : 4), i;

        step(state, k, FRAMEBITS_PC, P_KEY_TEXT);
        if (n < 4) /* partial block: its number of bytes */
            TINYJAMBU_BYTE(state, 4) ^= n;
        len -= n;
#ifdef TINYJAMBU_FAST
        if (n == 4) {
            uint32_t x = tinyjambu_load32(in);
            uint32_t y = x ^ state->s[2];

            state->s[3] ^= decrypt ? y : x;
            tinyjambu_store32(out, y);
            in += 4;
            out += 4;
            continue;
        }
#endif
        for (i = 0; i < n; i++) {
            uint8_t x = *in++;
            uint8_t y = x ^ TINYJAMBU_BYTE(state, 8 + i);

            /* the plaintext: input of encryption, output of decryption */
            TINYJAMBU_BYTE(state, 12 + i) ^= (uint8_t)(decrypt ? y : x);
            *out++ = y;
        }
    }
}

static void output_tag_word(tinyjambu_state *state, uint8_t *t)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        t[i] = TINYJAMBU_BYTE(state, 8 + i);
}

/* 3.3.4 */
static void finalize(tinyjambu_state *state, const uint8_t *k, uint8_t *t)
{
    step(state, k, FRAMEBITS_FINALIZATION, P_KEY_TEXT);
    output_tag_word(state, t);
    step(state, k, FRAMEBITS_FINALIZATION, P_NONCE_AD);
    output_tag_word(state, t + 4);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    tinyjambu_state state;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    initialize(&state, k, npub, ad, (size_t)adlen);
    crypt(&state, k, c, m, len, 0);
    finalize(&state, k, c + len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    tinyjambu_state state;
    uint8_t t[TAGBYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    initialize(&state, k, npub, ad, (size_t)adlen);
    crypt(&state, k, m, c, len, 1);
    finalize(&state, k, t);

    /* 3.3.6 */
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
