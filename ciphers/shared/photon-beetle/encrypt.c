/*
 * PHOTON-Beetle-AEAD[r] (section 3.2 of the specification, Figure 3.6).
 */
#include "api.h"
#include "beetle.h"
#include "crypto_aead.h"

#define TAGBYTES CRYPTO_ABYTES

/* Shuffle(S): S_2 || (S_1 >>> 1), the first bit of a byte being its lowest */
static void shuffle(uint8_t *y)
{
    uint8_t first = y[0], i;

    for (i = 0; i < RATE / 2; i++) {
        uint8_t next = i + 1 < RATE / 2 ? y[i + 1] : first;
        uint8_t x = (uint8_t)(y[i] >> 1 | next << 7);

        y[i] = y[RATE / 2 + i];
        y[RATE / 2 + i] = x;
    }
}

/* Lines 1 to 7 */
static void start(beetle_state *s, const uint8_t *ad, size_t adlen,
                  size_t mlen, const uint8_t *npub, const uint8_t *k)
{
    uint8_t iv[32];

    memcpy(iv, npub, 16);
    memcpy(iv + 16, k, 16);
    memset(s, 0, sizeof *s);
    beetle_add(s, iv, 32);
    if (adlen == 0 && mlen == 0) {
        beetle_add_constant(s, 1);
        return;
    }
    if (adlen != 0) {
        uint8_t full = adlen % RATE == 0;

        beetle_hash(s, ad, adlen,
                    (uint8_t)(mlen != 0 ? 2 - full : 4 - full));
    }
}

/* Lines 8 to 15: rho, decrypt = 0, and its inverse, decrypt = 1.  The state
 * takes in the plaintext in both. */
static void crypt(beetle_state *s, uint8_t *out, const uint8_t *in,
                  size_t len, uint8_t adempty, uint8_t decrypt)
{
    uint8_t full = len % RATE == 0;

    if (len == 0)
        return;
    while (len != 0) {
        uint8_t n = (uint8_t)(len < RATE ? len : RATE), i;
        uint8_t y[RATE], u[RATE];

        beetle_permute(s);
        beetle_extract(s, y, RATE);
        shuffle(y);
        for (i = 0; i < n; i++) {
            uint8_t x = *in++;

            y[i] ^= x;
            u[i] = decrypt ? y[i] : x;
            *out++ = y[i];
        }
        beetle_add_block(s, u, n);
        len -= n;
    }
    beetle_add_constant(s, (uint8_t)(adempty ? 6 - full : 2 - full));
}

/* TAG_128 */
static void tag(beetle_state *s, uint8_t *t)
{
    beetle_permute(s);
    beetle_extract(s, t, TAGBYTES);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    beetle_state s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&s, ad, (size_t)adlen, len, npub, k);
    crypt(&s, c, m, len, adlen == 0, 0);
    tag(&s, c + len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    beetle_state s;
    uint8_t t[TAGBYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&s, ad, (size_t)adlen, len, npub, k);
    crypt(&s, m, c, len, adlen == 0, 1);
    tag(&s, t);

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
