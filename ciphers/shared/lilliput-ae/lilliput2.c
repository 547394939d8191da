/*
 * Lilliput-II (LILLIPUT-AE v1.1): the mode SCT-2, which withstands repeated
 * nonces.
 */
#include "crypto_aead.h"
#include "tbc.h"

#define N TBC_BLOCK
#define TAGBYTES CRYPTO_ABYTES
#define NONCEBYTES CRYPTO_NPUBBYTES

/* Prefixes of 4 bits; a tweak is a prefix and the number of the block or the
 * nonce. */
#define MESSAGE 0x00
#define TAG 0x10
#define AD 0x20
#define MESSAGE_PARTIAL 0x40
#define AD_PARTIAL 0x60

/*
 * The functions are not to be inlined: AVR reaches only 64 bytes of a frame
 * directly, and the round keys are more.
 */

/* auth += E(prefix || i, X_i), ...; the last block may be partial and is
 * padded with 10* then. */
static void __attribute__((noinline))
authenticate(const tbc_key *key, uint8_t *auth, const uint8_t *in, size_t len,
             uint8_t full, uint8_t partial)
{
    uint8_t tweak[TBC_TWEAK], x[N], i;
    size_t index = 0;

    for (; len != 0; index++) {
        uint8_t n = (uint8_t)(len < N ? len : N);
        size_t rest = index;

        for (i = 0; i < n; i++)
            x[i] = *in++;
        if (i < N)
            x[i++] = 0x80;
        while (i < N)
            x[i++] = 0;
        for (i = TBC_TWEAK; i != 0; rest >>= 8)
            tweak[--i] = (uint8_t)rest;
        tweak[0] = n == N ? full : partial;
        tbc_encrypt(key, tweak, x);
        for (i = 0; i < N; i++)
            auth[i] ^= x[i];
        len -= n;
    }
}

static void __attribute__((noinline))
make_tag(const tbc_key *key, uint8_t *tag, const uint8_t *npub,
         const uint8_t *ad, size_t adlen, const uint8_t *m, size_t len)
{
    uint8_t tweak[TBC_TWEAK], i;

    for (i = 0; i < N; i++)
        tag[i] = 0;
    authenticate(key, tag, ad, adlen, AD, AD_PARTIAL);
    authenticate(key, tag, m, len, MESSAGE, MESSAGE_PARTIAL);
    tweak[0] = TAG;
    for (i = 0; i < NONCEBYTES; i++)
        tweak[1 + i] = npub[i];
    tbc_encrypt(key, tweak, tag);
}

/* out = in + E(1 || (tag + i), 0^8 || N) */
static void __attribute__((noinline))
crypt(const tbc_key *key, const uint8_t *tag, const uint8_t *npub,
      uint8_t *out, const uint8_t *in, size_t len)
{
    uint8_t tweak[TBC_TWEAK], x[N], i;
    size_t index = 0;

    for (; len != 0; index++) {
        uint8_t n = (uint8_t)(len < N ? len : N);
        size_t rest = index;

        for (i = TBC_TWEAK; i != 0; rest >>= 8) {
            i--;
            tweak[i] = (uint8_t)(tag[i] ^ rest);
        }
        tweak[0] |= 0x80;
        x[0] = 0;
        for (i = 0; i < NONCEBYTES; i++)
            x[1 + i] = npub[i];
        tbc_encrypt(key, tweak, x);
        for (i = 0; i < n; i++)
            *out++ = *in++ ^ x[i];
        len -= n;
    }
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    tbc_key key;
    uint8_t tag[TAGBYTES], i;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    tbc_set_key(&key, k);
    make_tag(&key, tag, npub, ad, (size_t)adlen, m, len);
    crypt(&key, tag, npub, c, m, len);
    for (i = 0; i < TAGBYTES; i++)
        c[len + i] = tag[i];
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    tbc_key key;
    uint8_t tag[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    tbc_set_key(&key, k);
    crypt(&key, c + len, npub, m, c, len);
    make_tag(&key, tag, npub, ad, (size_t)adlen, m, len);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(tag[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
