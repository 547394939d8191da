/*
 * ACORN-128 (ACORN v3, section 1.3); 32 steps, or 8, at a time.  Bit 0 of a
 * string is the least significant bit of its first byte.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api.h"
#include "bits32.h"
#include "crypto_aead.h"

#define TAGBYTES CRYPTO_ABYTES
#define ONES 0xFFFFFFFF

#if defined(__AVR__) /* where a copy for every use is 24 kB of code */
#define NOT_INLINE __attribute__((noinline))
#else
#define NOT_INLINE
#endif

/* The state S in the pieces that the feedback of the LFSRs leaves as they are;
 * bits behind the end of a piece are zero. */
typedef struct {
    uint32_t r0[2];   /* S_0 to S_60 */
    uint32_t r61[2];  /* to S_106 */
    uint32_t r107[2]; /* to S_153 */
    uint32_t r154[2]; /* to S_192 */
    uint32_t r193[2]; /* to S_229 */
    uint32_t r230[2]; /* to S_288 */
    uint8_t r289;     /* to S_292 */
} acorn;

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static void store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

/* Section 1.3.2, with the same values */
static inline uint32_t maj(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) | (z & (x | y));
}

static inline uint32_t ch(uint32_t x, uint32_t y, uint32_t z)
{
    return z ^ (x & (y ^ z));
}

/* The piece r of that length by n steps, taking in n bits. */
#define SHIFT(r, length, n, in)                                              \
    do {                                                                     \
        uint32_t x_[3];                                                      \
                                                                             \
        x_[0] = x_[2] = 0;                                                   \
        if ((n) == 32) {                                                     \
            x_[1] = (in);                                                    \
            (r)[0] = (r)[1] | bits32(x_, 64 - (length));                     \
            (r)[1] = bits32(x_ + 1, 64 - (length));                          \
        } else {                                                             \
            x_[1] = (r)[1];                                                  \
            (r)[0] = bits32(r, 8);                                           \
            (r)[1] = bits32(x_ + 1, 8);                                      \
            x_[1] = (in) & 0xFF;                                             \
            if ((length) < 40) {                                             \
                (r)[0] |= bits32(x_, (40 - (length)) & 31);                  \
                (r)[1] |= bits32(x_ + 1, (40 - (length)) & 31);              \
            } else {                                                         \
                (r)[1] |= bits32(x_, (72 - (length)) & 31);                  \
            }                                                                \
        }                                                                    \
    } while (0)

/* n steps (StateUpdate128), n = 32 or 8: returns the key stream; m is in, or
 * with decrypt = ONES in plus key stream. */
static inline uint32_t __attribute__((always_inline))
steps(acorn *s, uint8_t n, uint32_t in, uint32_t ca, uint32_t cb,
      uint32_t decrypt)
{
    uint32_t s0 = s->r0[0], s12 = bits32(s->r0, 12), s23 = bits32(s->r0, 23);
    uint32_t s66 = bits32(s->r61, 5), s111 = bits32(s->r107, 4);
    uint32_t s160 = bits32(s->r154, 6), s196 = bits32(s->r193, 3);
    uint32_t s235 = bits32(s->r230, 5), s244 = bits32(s->r230, 14);
    /* feedback; S_289 below */
    uint32_t s289 = s235 ^ s->r230[0];
    uint32_t s230 = s->r230[0] ^ s196 ^ s->r193[0];
    uint32_t s193 = s->r193[0] ^ s160 ^ s->r154[0];
    uint32_t s154 = s->r154[0] ^ s111 ^ s->r107[0];
    uint32_t s107 = s->r107[0] ^ s66 ^ s->r61[0];
    uint32_t s61 = s->r61[0] ^ s23 ^ s0;
    uint32_t ks = s12 ^ s154 ^ maj(s235, s61, s193) ^ ch(s230, s111, s66);
    uint32_t f = s0 ^ ~s107 ^ maj(s244, s23, s160) ^ (ca & s196) ^ (cb & ks);

    f ^= in ^ (ks & decrypt);
    /* f reaches S_289 four steps later */
    s289 ^= s->r289 | f << 4;
    s->r289 = (uint8_t)(f >> (n - 4)) & 0x0F;
    SHIFT(s->r0, 61, n, s61);
    SHIFT(s->r61, 46, n, s107);
    SHIFT(s->r107, 47, n, s154);
    SHIFT(s->r154, 39, n, s193);
    SHIFT(s->r193, 37, n, s230);
    SHIFT(s->r230, 59, n, s289);
    return ks;
}

static uint32_t NOT_INLINE
steps32(acorn *s, uint32_t in, uint32_t ca, uint32_t cb, uint32_t decrypt)
{
    return steps(s, 32, in, ca, cb, decrypt);
}

static uint8_t NOT_INLINE
steps8(acorn *s, uint8_t in, uint32_t cb, uint32_t decrypt)
{
    return (uint8_t)steps(s, 8, in, ONES, cb, decrypt);
}

/* The bit 1 and 255 bits 0 after associated data and after the message */
static void pad(acorn *s, uint32_t cb)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        steps32(s, i == 0, i < 4 ? ONES : 0, cb, 0);
}

/* Section 1.3.3 */
static void init(acorn *s, const uint8_t *k, const uint8_t *npub)
{
    uint8_t i;

    memset(s, 0, sizeof *s);
    for (i = 0; i < 4; i++)
        steps32(s, load32(k + 4 * i), ONES, ONES, 0);
    for (i = 0; i < 4; i++)
        steps32(s, load32(npub + 4 * i), ONES, ONES, 0);
    for (i = 0; i < 1536 / 32; i++)
        steps32(s, load32(k + 4 * (i & 3)) ^ (i == 0), ONES, ONES, 0);
}

/* Section 1.3.4 */
static void absorb(acorn *s, const uint8_t *ad, size_t len)
{
    for (; len >= 4; len -= 4) {
        steps32(s, load32(ad), ONES, ONES, 0);
        ad += 4;
    }
    for (; len != 0; len--)
        steps8(s, *ad++, ONES, 0);
    pad(s, ONES);
}

/* Sections 1.3.5 and 1.3.7 */
static void crypt(acorn *s, uint8_t *out, const uint8_t *in, size_t len,
                  uint32_t decrypt)
{
    for (; len >= 4; len -= 4) {
        uint32_t x = load32(in);

        store32(out, x ^ steps32(s, x, ONES, 0, decrypt));
        in += 4;
        out += 4;
    }
    for (; len != 0; len--) {
        uint8_t x = *in++;

        *out++ = x ^ steps8(s, x, 0, decrypt);
    }
    pad(s, 0);
}

/* Section 1.3.6 */
static void finalize(acorn *s, uint8_t *tag)
{
    uint8_t i;

    for (i = 0; i < 768 / 32; i++)
        store32(tag + 4 * (i & 3), steps32(s, 0, ONES, ONES, 0));
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    acorn s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    init(&s, k, npub);
    absorb(&s, ad, (size_t)adlen);
    crypt(&s, c, m, len, 0);
    finalize(&s, c + len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    acorn s;
    uint8_t tag[TAGBYTES], difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    init(&s, k, npub);
    absorb(&s, ad, (size_t)adlen);
    crypt(&s, m, c, len, ONES);
    finalize(&s, tag);
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
