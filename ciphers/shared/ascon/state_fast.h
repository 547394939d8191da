/* The state and its operations, fastest code. */
#ifndef STATE_H
#define STATE_H

#if ASCON_COLUMNS

#include "columns.h"

typedef struct {
    uint8_t x[5][8];
} ascon_state;

#define ASCON_T(s, i, k) ((s)->x[i][k])

void ascon_add(ascon_state *s, uint8_t i, const unsigned char *p, uint8_t n);
void ascon_extract(const ascon_state *s, uint8_t i, unsigned char *p, uint8_t n);
void ascon_crypt(ascon_state *s, uint8_t i, unsigned char *out,
                 const unsigned char *in, uint8_t n, uint8_t what);

#else

#include "words.h"

/*
 * The two numbers of a word are its lower and upper half or, with interleaving,
 * its bits of even and of odd index.  Interleaved, a rotation of the word is
 * two rotations of 32-bit numbers, single instructions on many processors; in
 * return every word that enters or leaves the state has to be converted.  That
 * pays where 12 rounds follow each word.
 */
#if ASCON_INTERLEAVE

/* Bits of even index to the lower half of v, of odd index to the upper half. */
static inline uint32_t ascon_separate(uint32_t v)
{
    uint32_t t;

    t = (v ^ (v >> 1)) & 0x22222222; v ^= t ^ (t << 1);
    t = (v ^ (v >> 2)) & 0x0c0c0c0c; v ^= t ^ (t << 2);
    t = (v ^ (v >> 4)) & 0x00f000f0; v ^= t ^ (t << 4);
    t = (v ^ (v >> 8)) & 0x0000ff00; v ^= t ^ (t << 8);
    return v;
}

/* The inverse. */
static inline uint32_t ascon_join(uint32_t v)
{
    uint32_t t;

    t = (v ^ (v >> 8)) & 0x0000ff00; v ^= t ^ (t << 8);
    t = (v ^ (v >> 4)) & 0x00f000f0; v ^= t ^ (t << 4);
    t = (v ^ (v >> 2)) & 0x0c0c0c0c; v ^= t ^ (t << 2);
    t = (v ^ (v >> 1)) & 0x22222222; v ^= t ^ (t << 1);
    return v;
}

/* S_i <- S_i ^ (h || l) */
static inline void ascon_add_halves(ascon_state *s, uint8_t i,
                                    uint32_t l, uint32_t h)
{
    l = ascon_separate(l);
    h = ascon_separate(h);
    s->x[i][0] ^= (l & 0xffff) | (h << 16);
    s->x[i][1] ^= (l >> 16) | (h & 0xffff0000);
}

static inline uint32_t ascon_lower(const ascon_state *s, uint8_t i)
{
    return ascon_join((s->x[i][0] & 0xffff) | (s->x[i][1] << 16));
}

static inline uint32_t ascon_upper(const ascon_state *s, uint8_t i)
{
    return ascon_join((s->x[i][0] >> 16) | (s->x[i][1] & 0xffff0000));
}

#else

static inline void ascon_add_halves(ascon_state *s, uint8_t i,
                                    uint32_t l, uint32_t h)
{
    s->x[i][0] ^= l;
    s->x[i][1] ^= h;
}

#define ascon_lower(s, i) ((s)->x[i][0])
#define ascon_upper(s, i) ((s)->x[i][1])

#endif

#define ASCON_ADD_CONSTANT(s, i, v) \
    ascon_add_halves(s, i, (uint32_t)((v) & 0xffffffff), (uint32_t)((v) >> 32))

/* Four bytes of a half; the lower half is found at p + ASCON_LOWER. */
#if ASCON_BIG_ENDIAN
#define ASCON_LOWER 4
#define ASCON_SHIFT(j) (24 - 8 * (j))
#else
#define ASCON_LOWER 0
#define ASCON_SHIFT(j) (8 * (j))
#endif
#define ASCON_UPPER (4 - ASCON_LOWER)

static inline uint32_t ascon_load(const unsigned char *p)
{
    return (uint32_t)p[0] << ASCON_SHIFT(0) | (uint32_t)p[1] << ASCON_SHIFT(1) |
           (uint32_t)p[2] << ASCON_SHIFT(2) | (uint32_t)p[3] << ASCON_SHIFT(3);
}

static inline void ascon_store(unsigned char *p, uint32_t v)
{
    p[0] = (unsigned char)(v >> ASCON_SHIFT(0));
    p[1] = (unsigned char)(v >> ASCON_SHIFT(1));
    p[2] = (unsigned char)(v >> ASCON_SHIFT(2));
    p[3] = (unsigned char)(v >> ASCON_SHIFT(3));
}

static inline void ascon_add(ascon_state *s, uint8_t i,
                             const unsigned char *p, uint8_t n)
{
    unsigned char t[8] = { 0 };
    uint8_t j;

    if (n != 8) {
        for (j = 0; j < n; j++)
            t[j] = p[j];
        p = t;
    }
    ascon_add_halves(s, i, ascon_load(p + ASCON_LOWER),
                     ascon_load(p + ASCON_UPPER));
}

static inline void ascon_extract(const ascon_state *s, uint8_t i,
                                 unsigned char *p, uint8_t n)
{
    unsigned char t[8];
    uint8_t j;

    if (n == 8) {
        ascon_store(p + ASCON_LOWER, ascon_lower(s, i));
        ascon_store(p + ASCON_UPPER, ascon_upper(s, i));
    } else {
        ascon_store(t + ASCON_LOWER, ascon_lower(s, i));
        ascon_store(t + ASCON_UPPER, ascon_upper(s, i));
        for (j = 0; j < n; j++)
            p[j] = t[j];
    }
}

static inline void ascon_decrypt(ascon_state *s, uint8_t i, unsigned char *p,
                                 const unsigned char *c, uint8_t n)
{
    unsigned char t[8];
    uint8_t j;

    if (n == 8) {
        uint32_t l = ascon_lower(s, i) ^ ascon_load(c + ASCON_LOWER);
        uint32_t h = ascon_upper(s, i) ^ ascon_load(c + ASCON_UPPER);

        ascon_add_halves(s, i, l, h);
        ascon_store(p + ASCON_LOWER, l);
        ascon_store(p + ASCON_UPPER, h);
    } else {
        ascon_extract(s, i, t, n);
        for (j = 0; j < n; j++)
            p[j] = c[j] ^ t[j];
        ascon_add(s, i, p, n);
    }
}

static inline void ascon_crypt(ascon_state *s, uint8_t i, unsigned char *out,
                               const unsigned char *in, uint8_t n, uint8_t what)
{
    if (what == ASCON_DECRYPT) {
        ascon_decrypt(s, i, out, in, n);
    } else {
        ascon_add(s, i, in, n);
        if (what == ASCON_ENCRYPT)
            ascon_extract(s, i, out, n);
    }
}

static inline void ascon_add_padding(ascon_state *s, uint8_t i, uint8_t n)
{
    uint32_t v = (uint32_t)(ASCON_BIG_ENDIAN ? 0x80 : 0x01) << ASCON_SHIFT(n & 3);

    if ((n & 4) == ASCON_LOWER)
        ascon_add_halves(s, i, v, 0);
    else
        ascon_add_halves(s, i, 0, v);
}

#endif

void ascon_permute(ascon_state *s, uint8_t rounds);

#endif
