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

/* Four bytes of a word, the first ones (j = 0) or the last ones (j = 1). */
#if ASCON_BIG_ENDIAN
#define ASCON_HALF(j) (1 - (j))
#define ASCON_SHIFT(j) (24 - 8 * (j))
#else
#define ASCON_HALF(j) (j)
#define ASCON_SHIFT(j) (8 * (j))
#endif

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
    s->x[i][ASCON_HALF(0)] ^= ascon_load(p);
    s->x[i][ASCON_HALF(1)] ^= ascon_load(p + 4);
}

static inline void ascon_extract(const ascon_state *s, uint8_t i,
                                 unsigned char *p, uint8_t n)
{
    unsigned char t[8];
    uint8_t j;

    if (n == 8) {
        ascon_store(p, s->x[i][ASCON_HALF(0)]);
        ascon_store(p + 4, s->x[i][ASCON_HALF(1)]);
    } else {
        ascon_store(t, s->x[i][ASCON_HALF(0)]);
        ascon_store(t + 4, s->x[i][ASCON_HALF(1)]);
        for (j = 0; j < n; j++)
            p[j] = t[j];
    }
}

static inline void ascon_decrypt(ascon_state *s, uint8_t i, unsigned char *p,
                                 const unsigned char *c, uint8_t n)
{
    if (n == 8) {
        uint32_t c0 = ascon_load(c), c1 = ascon_load(c + 4);

        ascon_store(p, s->x[i][ASCON_HALF(0)] ^ c0);
        ascon_store(p + 4, s->x[i][ASCON_HALF(1)] ^ c1);
        s->x[i][ASCON_HALF(0)] = c0;
        s->x[i][ASCON_HALF(1)] = c1;
    } else {
        unsigned char t[8];
        uint8_t j;

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

#define ascon_add_padding(s, i, n) \
    ((s)->x[i][ASCON_HALF((n) >> 2)] ^= \
     (uint32_t)(ASCON_BIG_ENDIAN ? 0x80 : 0x01) << ASCON_SHIFT((n) & 3))

#endif

void ascon_permute(ascon_state *s, uint8_t rounds);

#endif
