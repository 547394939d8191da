/* The state and its operations, smallest code. */
#ifndef STATE_H
#define STATE_H

#if ASCON_COLUMNS

#include "columns.h"

/*
 * The permutation keeps a second, rotated copy T_8 .. T_15 of every word, so
 * that index k + r needs no reduction modulo 8: T_{k+8} = T_k rotated by 1.
 * Outside of the permutation the copy means nothing.
 */
typedef struct {
    uint8_t x[5][16];
} ascon_state;

void ascon_add(ascon_state *s, uint8_t i, const unsigned char *p, uint8_t n);
void ascon_extract(const ascon_state *s, uint8_t i, unsigned char *p, uint8_t n);

#else

#include "words.h"

/* Byte j of a word in memory. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ASCON_BYTE_SWAP ((ASCON_BIG_ENDIAN ? 7 : 0) ^ 3)
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ASCON_BYTE_SWAP (ASCON_BIG_ENDIAN ? 7 : 0)
#else
#error "byte order of the processor is not known"
#endif
#define ASCON_BYTE(s, i, j) \
    (((unsigned char *)(s)->x[i])[(j) ^ ASCON_BYTE_SWAP])

static inline void ascon_add(ascon_state *s, uint8_t i,
                             const unsigned char *p, uint8_t n)
{
    uint8_t j;

    for (j = 0; j < n; j++)
        ASCON_BYTE(s, i, j) ^= p[j];
}

static inline void ascon_extract(ascon_state *s, uint8_t i,
                                 unsigned char *p, uint8_t n)
{
    uint8_t j;

    for (j = 0; j < n; j++)
        p[j] = ASCON_BYTE(s, i, j);
}

#define ascon_add_padding(s, i, n) \
    (ASCON_BYTE(s, i, n) ^= ASCON_BIG_ENDIAN ? 0x80 : 0x01)

#endif

static inline void ascon_decrypt(ascon_state *s, uint8_t i, unsigned char *p,
                                 const unsigned char *c, uint8_t n)
{
    unsigned char t[8];
    uint8_t j;

    ascon_extract(s, i, t, n);
    for (j = 0; j < n; j++)
        p[j] = c[j] ^ t[j];
    ascon_add(s, i, p, n);
}

void ascon_permute(ascon_state *s, uint8_t rounds);

#endif
