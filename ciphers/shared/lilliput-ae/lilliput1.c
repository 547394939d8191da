/*
 * Lilliput-I (LILLIPUT-AE v1.1): the mode ThetaCB3, for nonces that do not
 * repeat.
 *
 * A tweak is a prefix of 4 bits and the number of the block, with the nonce
 * between them in the encryption part.
 */
#include "crypto_aead.h"
#include "tbc.h"

#define N TBC_BLOCK
#define TAGBYTES CRYPTO_ABYTES
#define NONCEBYTES CRYPTO_NPUBBYTES

#define MESSAGE 0x00
#define TAG 0x10
#define AD 0x20
#define MESSAGE_PARTIAL 0x40
#define TAG_PARTIAL 0x50
#define AD_PARTIAL 0x60

static void set_index(uint8_t *tweak, size_t index)
{
    uint8_t i;

    for (i = TBC_TWEAK; i > TBC_TWEAK - 8; index >>= 8)
        tweak[--i] = (uint8_t)index;
}

/* prefix || N || index */
static void set_nonce(uint8_t *tweak, uint8_t prefix, const uint8_t *npub)
{
    uint8_t above = prefix, i;

    for (i = 0; i < NONCEBYTES; i++) {
        tweak[i] = (uint8_t)(above | npub[i] >> 4);
        above = (uint8_t)(npub[i] << 4);
    }
    tweak[i] = above;
}

static void set_prefix(uint8_t *tweak, uint8_t prefix)
{
    tweak[0] = (uint8_t)(prefix | (tweak[0] & 0x0F));
}

/* pad10* of len < N bytes is added to y. */
static void add_padded(uint8_t *y, const uint8_t *x, uint8_t len)
{
    uint8_t i;

    for (i = 0; i < len; i++)
        y[i] ^= x[i];
    y[len] ^= 0x80;
}

/* auth += E(AD || i, A_i), ... */
static void authenticate(const tbc_key *key, uint8_t *auth, const uint8_t *ad,
                         size_t len)
{
    uint8_t tweak[TBC_TWEAK], x[N], i;
    size_t index = 0;

    for (i = 0; i < TBC_TWEAK; i++)
        tweak[i] = 0;
    while (len != 0) {
        uint8_t n = (uint8_t)(len < N ? len : N);

        for (i = 0; i < N; i++)
            x[i] = 0;
        if (n == N) {
            for (i = 0; i < N; i++)
                x[i] = ad[i];
            tweak[0] = AD;
        } else {
            add_padded(x, ad, n);
            tweak[0] = AD_PARTIAL;
        }
        set_index(tweak, index++);
        tbc_encrypt(key, tweak, x);
        for (i = 0; i < N; i++)
            auth[i] ^= x[i];
        ad += n;
        len -= n;
    }
}

/* Ciphertext or plaintext, and the tag */
static void crypt(uint8_t *tag, const uint8_t *k, const uint8_t *npub,
                  const uint8_t *ad, size_t adlen, uint8_t *out,
                  const uint8_t *in, size_t len, uint8_t decrypt)
{
    tbc_key key;
    uint8_t tweak[TBC_TWEAK], checksum[N], x[N], i;
    size_t index = 0;

    tbc_set_key(&key, k);
    set_nonce(tweak, MESSAGE, npub);
    for (i = 0; i < N; i++)
        checksum[i] = 0;
    for (; len >= N; len -= N) {
        set_index(tweak, index);
        /* the index is less than 2^64, and bits 64 to 67 remain zero */
        index++;
        for (i = 0; i < N; i++) {
            x[i] = in[i];
            if (!decrypt)
                checksum[i] ^= x[i];
        }
        if (decrypt)
            tbc_decrypt(&key, tweak, x);
        else
            tbc_encrypt(&key, tweak, x);
        for (i = 0; i < N; i++) {
            out[i] = x[i];
            if (decrypt)
                checksum[i] ^= x[i];
        }
        in += N;
        out += N;
    }
    set_index(tweak, index);
    if (len == 0) {
        set_prefix(tweak, TAG);
    } else {
        uint8_t n = (uint8_t)len;

        for (i = 0; i < N; i++)
            x[i] = 0;
        set_prefix(tweak, MESSAGE_PARTIAL);
        tbc_encrypt(&key, tweak, x);
        for (i = 0; i < n; i++) {
            uint8_t from = in[i], to = from ^ x[i];

            out[i] = to;
            x[i] = decrypt ? to : from;
        }
        add_padded(checksum, x, n);
        set_index(tweak, index + 1);
        set_prefix(tweak, TAG_PARTIAL);
    }
    tbc_encrypt(&key, tweak, checksum);
    authenticate(&key, checksum, ad, adlen);
    for (i = 0; i < N; i++)
        tag[i] = checksum[i];
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    crypt(c + len, k, npub, ad, (size_t)adlen, c, m, len, 0);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t tag[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    crypt(tag, k, npub, ad, (size_t)adlen, m, c, len, 1);
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
