/*
 * The Gimli permutation with 24 rounds and what Gimli-Cipher and Gimli-Hash do
 * with it in common (sections 2.5 to 2.11 of the specification, submission to
 * the NIST LWC project, round 2).
 */
#ifndef GIMLI_H
#define GIMLI_H

#include <stddef.h>
#include <stdint.h>

/*
 * Word s_{i,j} is s[4i + j].  As a string the state is its words one after the
 * other, four bytes a word, lowest first.
 */
typedef struct {
    uint32_t s[12];
} gimli_state;

#define GIMLI_BYTES 48u
#define GIMLI_RATE 16u

/* Byte i of the state as a string. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GIMLI_BYTE(g, i) (((uint8_t *)(g)->s)[(i) ^ 3u])
#else
#define GIMLI_BYTE(g, i) (((uint8_t *)(g)->s)[i])
#endif

enum { GIMLI_ABSORB, GIMLI_ENCRYPT, GIMLI_DECRYPT };

/* Algorithm 1 */
void gimli(gimli_state *g);

/*
 * All blocks of a string, full ones and the non-full one at the end, with the
 * permutation after each.  ENCRYPT and DECRYPT write as many bytes; ABSORB
 * does not look at out.
 */
void gimli_process(gimli_state *g, unsigned char *out, const unsigned char *in,
                   size_t len, uint8_t what);

#endif
