/*
 * AES-CCM (RFC 3610; NIST SP 800-38C, appendix A) for all sizes of nonce and
 * tag: CBC-MAC of plaintext, and counter mode.
 *
 * A block of the CBC-MAC waits until the next counter block is encrypted, so
 * that both take the time of one where two blocks fit into the slices.
 */
#include <stddef.h>

#include "aes.h"
#include "crypto_aead.h"

#define TAGBYTES CRYPTO_ABYTES        /* M */
#define NONCEBYTES CRYPTO_NPUBBYTES
#define LENGTHBYTES (15 - NONCEBYTES) /* L */
#define LONGEST (0xFFFFFFFFFFFFFFFFu >> 8 * (8 - LENGTHBYTES))

/* AVR reaches only 64 bytes of a frame directly, and ccm is larger. */
#define NOT_INLINE __attribute__((noinline))

typedef struct {
    aes_key key;
    uint8_t x[32]; /* the CBC-MAC, to be encrypted; a counter block */
    uint8_t used;  /* bytes of the CBC-MAC's block that have come */
} ccm;

/* flags || nonce || n */
static void format(uint8_t *x, uint8_t flags, const uint8_t *npub, size_t n)
{
    uint8_t i;

    x[0] = flags;
    for (i = 0; i < NONCEBYTES; i++)
        x[1 + i] = npub[i];
    for (i = 15; i > NONCEBYTES; i--) {
        x[i] = (uint8_t)n;
        n >>= 8;
    }
}

static void NOT_INLINE absorb(ccm *s, const uint8_t *p, size_t n)
{
    for (; n != 0; n--) {
        if (s->used == 16) {
            aes_encrypt(&s->key, s->x);
            s->used = 0;
        }
        s->x[s->used++] ^= *p++;
    }
}

/* B_0 and the associated data behind their length. */
static void NOT_INLINE start(ccm *s, const uint8_t *k, const uint8_t *npub,
                             const uint8_t *ad, size_t adlen, size_t len)
{
    uint32_t rest = (uint32_t)adlen;
    uint8_t size[6], i;

    aes_set_key(&s->key, k);
    format(s->x, (uint8_t)((adlen != 0 ? 0x40 : 0) | (TAGBYTES - 2) / 2 << 3 |
                           (LENGTHBYTES - 1)), npub, len);
    s->used = 16;
    if (adlen == 0)
        return;
    size[0] = 0xFF;
    size[1] = 0xFE;
    for (i = 5; i > 1; i--) {
        size[i] = (uint8_t)rest;
        rest >>= 8;
    }
    if (adlen < 0xFF00)
        absorb(s, size + 4, 2);
    else
        absorb(s, size, 6);
    absorb(s, ad, adlen);
}

/* The waiting block of the CBC-MAC, and the stream of counter n. */
static void NOT_INLINE next(ccm *s, const uint8_t *npub, size_t n)
{
    format(s->x + 16, LENGTHBYTES - 1, npub, n);
#if AES_PARALLEL == 2
    aes_encrypt_blocks(&s->key, s->x);
#else
    aes_encrypt(&s->key, s->x);
    aes_encrypt(&s->key, s->x + 16);
#endif
}

/* The message, which is in before encryption and out after decryption; t is
 * its tag. */
static void NOT_INLINE crypt(ccm *s, const uint8_t *npub, uint8_t *out,
                             const uint8_t *in, size_t len, uint8_t decrypt,
                             uint8_t *t)
{
    size_t counter = 0;
    uint8_t i;

    while (len != 0) {
        uint8_t n = (uint8_t)(len < 16 ? len : 16);

        next(s, npub, ++counter);
        for (i = 0; i < n; i++) {
            uint8_t before = *in++, after = before ^ s->x[16 + i];

            s->x[i] ^= decrypt ? after : before;
            *out++ = after;
        }
        len -= n;
    }
    next(s, npub, 0);
    for (i = 0; i < TAGBYTES; i++)
        t[i] = s->x[i] ^ s->x[16 + i];
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    ccm s;
    size_t len = (size_t)mlen;

    (void)nsec;
    if (mlen > LONGEST || adlen > 0xFFFFFFFFu)
        return -1;
    *clen = mlen + TAGBYTES;
    start(&s, k, npub, ad, (size_t)adlen, len);
    crypt(&s, npub, c, m, len, 0, c + len);
    return 0;
}

/* The tag is of the plaintext, so that this comes first; where the tag is
 * wrong, the plaintext is cleared. */
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    ccm s;
    uint8_t t[TAGBYTES], received[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (clen < TAGBYTES || clen - TAGBYTES > LONGEST || adlen > 0xFFFFFFFFu)
        return -1;
    len -= TAGBYTES;
    for (i = 0; i < TAGBYTES; i++)
        received[i] = c[len + i];
    start(&s, k, npub, ad, (size_t)adlen, len);
    crypt(&s, npub, m, c, len, 1, t);
    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ received[i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
