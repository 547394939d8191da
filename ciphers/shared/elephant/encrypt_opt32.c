/*
 * Elephant v2 (section 2.2 of the specification), four blocks at a time.
 *
 * The calls of P do not depend on each other, but for the last one and for
 * that of a block of ciphertext, which has to be there.  A batch takes what
 * is left of the associated data, the message and the ciphertext.
 */
#include "blocks.h"
#include "crypto_aead.h"
#include "mask.h"
#include "params.h"

#if ELEPHANT_VERSION != 2
#error "version 2 only"
#endif

#define TAGBYTES CRYPTO_ABYTES

typedef struct {
    uint32_t s[BLOCKBYTES];       /* four blocks */
    uint32_t masks[BLOCKBYTES];   /* their masks */
    uint8_t expanded[BLOCKBYTES]; /* P(K || 0) */
    uint8_t t[BLOCKBYTES];        /* T */
    uint8_t used;                 /* blocks of the four */
} elephant;

/* The blocks of X || 1 that are left, and the mask of the next one. */
typedef struct {
    const uint8_t *p;
    size_t len; /* bytes of X that are left */
    uint8_t done; /* no block is left, not even the padding */
    elephant_mask m;
} stream;

static void clear(elephant *z)
{
    memset(z->s, 0, sizeof z->s);
    memset(z->masks, 0, sizeof z->masks);
    z->used = 0;
}

/* One more block, the first n bytes of x and zeros, with mask_K^{a,b}. */
static void add_block(elephant *z, const uint8_t *x, uint8_t n,
                      const elephant_mask *m, uint8_t b)
{
    uint8_t place = (uint8_t)(8 * z->used++), i;

    for (i = 0; i < BLOCKBYTES; i++) {
        uint32_t mask = (uint32_t)mask_byte(m, b, i) << place;

        z->masks[i] |= mask;
        z->s[i] |= mask;
        if (i < n)
            z->s[i] ^= (uint32_t)x[i] << place;
    }
}

/* As many blocks to authenticate as there is room for, from the first
 * available bytes of the stream or, all being there, its end. */
static void add_stream(elephant *z, stream *x, size_t available, uint8_t b)
{
    uint8_t block[BLOCKBYTES];

    while (z->used < 4 && !x->done &&
           (available >= BLOCKBYTES || available == x->len)) {
        padded_block(block, x->p, x->len);
        add_block(z, block, BLOCKBYTES, &x->m, b);
        mask_next(&x->m);
        if (x->len < BLOCKBYTES) {
            x->done = 1;
        } else {
            x->p += BLOCKBYTES;
            x->len -= BLOCKBYTES;
            available -= BLOCKBYTES;
        }
    }
}

/* x <- P(x + mask_K^{a,b}) + mask_K^{a,b}, for four blocks */
static void masked_permutations(elephant *z)
{
    uint8_t i;

    PERMUTE_X4(z->s);
    for (i = 0; i < BLOCKBYTES; i++)
        z->s[i] ^= z->masks[i];
}

/* T <- T + the blocks of the bytes that are 0xff in which */
static void authenticate(elephant *z, uint32_t which)
{
    uint8_t i;

    for (i = 0; i < BLOCKBYTES; i++) {
        uint32_t w = z->s[i] & which;

        w ^= w >> 16;
        z->t[i] ^= (uint8_t)(w ^ w >> 8);
    }
}

/* The bytes of the first n blocks, n <= 4 */
static uint32_t first(uint8_t n)
{
    return n == 4 ? 0xffffffffu : ((uint32_t)1 << 8 * n) - 1;
}

static void start(elephant *z, const uint8_t *k)
{
    uint8_t i;

    clear(z);
    for (i = 0; i < CRYPTO_KEYBYTES; i++)
        z->s[i] = k[i];
    PERMUTE_X4(z->s);
    for (i = 0; i < BLOCKBYTES; i++)
        z->expanded[i] = (uint8_t)z->s[i];
}

/* All of Algorithms 1 and 2, but for the tag's end; decrypt is 0 or 1. */
static void crypt(elephant *z, uint8_t *out, const uint8_t *in, size_t len,
                  const uint8_t *npub, const uint8_t *ad, size_t adlen,
                  uint8_t decrypt)
{
    stream a, c;
    elephant_mask m;
    size_t left = len;

    /* A_1 is T; what is left has mask_K^{1,0} on */
    first_block(z->t, npub, ad, adlen);
    a.p = ad;
    a.len = 0;
    a.done = adlen < BLOCKBYTES - NONCEBYTES;
    if (!a.done) {
        a.p = ad + (BLOCKBYTES - NONCEBYTES);
        a.len = adlen - (BLOCKBYTES - NONCEBYTES);
    }
    mask_start(&m, z->expanded);
    a.m = m;
    mask_next(&a.m);
    c.p = decrypt ? in : out;
    c.len = len;
    c.done = 0;
    c.m = m;

    for (;;) {
        uint8_t from, to, i;

        /* a ciphertext that is there is read before it is overwritten */
        clear(z);
        add_stream(z, &a, a.len, MASK_A);
        if (decrypt)
            add_stream(z, &c, c.len, MASK_C);
        from = z->used;
        for (to = from; to < 4 && (size_t)(to - from) * BLOCKBYTES < left;
             to++) {
            add_block(z, npub, NONCEBYTES, &m, MASK_M);
            mask_next(&m);
        }
        if (!decrypt)
            add_stream(z, &c, c.len - left, MASK_C);
        if (z->used == 0)
            return;

        masked_permutations(z);
        authenticate(z, first(z->used) ^ first(from) ^ first(to));
        for (; from < to; from++) {
            uint8_t n = (uint8_t)(left < BLOCKBYTES ? left : BLOCKBYTES);

            for (i = 0; i < n; i++)
                *out++ = *in++ ^ (uint8_t)(z->s[i] >> 8 * from);
            left -= n;
        }
    }
}

/* The tag, in T: the mask is mask_K^{0,0}. */
static void finish(elephant *z)
{
    uint8_t i;

    clear(z);
    for (i = 0; i < BLOCKBYTES; i++)
        z->s[i] = z->t[i] ^ z->expanded[i];
    PERMUTE_X4(z->s);
    for (i = 0; i < TAGBYTES; i++)
        z->t[i] = (uint8_t)z->s[i] ^ z->expanded[i];
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    elephant z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&z, k);
    crypt(&z, c, m, len, npub, ad, (size_t)adlen, 0);
    finish(&z);
    memcpy(c + len, z.t, TAGBYTES);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    elephant z;
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&z, k);
    crypt(&z, m, c, len, npub, ad, (size_t)adlen, 1);
    finish(&z);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(z.t[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
