/* The state and its operations, smallest code. */
#ifndef STATE_H
#define STATE_H

#if ASCON_COLUMNS

#include "columns.h"

/*
 * Column k of the state: T_k of the five words.  The permutation keeps a second,
 * rotated copy of the columns as x[8] .. x[15], so that index k + r needs no
 * reduction modulo 8: T_{k+8} is T_k rotated by 1.  Outside of the permutation
 * the copy means nothing.
 */
typedef struct {
    uint8_t x[16][5];
} ascon_state;

#define ASCON_T(s, i, k) ((s)->x[k][i])

void ascon_add(ascon_state *s, uint8_t i, const unsigned char *p, uint8_t n);
void ascon_extract(const ascon_state *s, uint8_t i, unsigned char *p, uint8_t n);

#else

#include "words.h"      /* x[i][0] is the lower half of S_i */

#define ASCON_ADD_CONSTANT(s, i, v) do { \
    (s)->x[i][0] ^= (uint32_t)((v) & 0xffffffff); \
    (s)->x[i][1] ^= (uint32_t)((v) >> 32); \
} while (0)

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

static inline void ascon_crypt(ascon_state *s, uint8_t i, unsigned char *out,
                               const unsigned char *in, uint8_t n, uint8_t what)
{
    unsigned char t[8];
    uint8_t j;

    if (what == ASCON_ABSORB) {
        ascon_add(s, i, in, n);
    } else {
        ascon_extract(s, i, t, n);
        for (j = 0; j < n; j++)
            t[j] ^= in[j];
        ascon_add(s, i, what == ASCON_ENCRYPT ? in : t, n);
        for (j = 0; j < n; j++)
            out[j] = t[j];
    }
}

void ascon_permute(ascon_state *s, uint8_t rounds);

#endif
