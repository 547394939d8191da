/*
 * DrySponge with GASCON, Mix128 and KSneq32: sections 3 and 6 to 9 of the
 * DryGASCON specification (submission to the NIST LWC project).
 *
 * "params.h" gives DRYGASCON, 128 or 256.
 */
#ifndef DRYSPONGE_H
#define DRYSPONGE_H

#include <stddef.h>
#include <stdint.h>

#include "params.h"

/* Tables 10 and 23 */
#if DRYGASCON == 128
#define DRYGASCON_CWORDS 5      /* c.width / 64 */
#define DRYGASCON_ACCUMULATE 2  /* AccumulateFactor */
#define DRYGASCON_DROUNDS 11
#define DRYGASCON_ROUNDS 7
#elif DRYGASCON == 256
#define DRYGASCON_CWORDS 9
#define DRYGASCON_ACCUMULATE 4
#define DRYGASCON_DROUNDS 12
#define DRYGASCON_ROUNDS 8
#else
#error "DRYGASCON is 128 or 256"
#endif

#define DRYGASCON_BLOCK 16u                     /* i.width and r.width */
#define DRYGASCON_SMALL (DRYGASCON / 8)         /* Table 2, in bytes */
#define DRYGASCON_FAST (DRYGASCON_SMALL + 16)
#define DRYGASCON_FULL (8 * DRYGASCON_CWORDS + 16)

/*
 * Strings of words, four bytes a word, lowest first.  A 64-bit word of c is
 * two of them: its bits of even and of odd index.
 */
typedef struct {
    uint32_t c[2 * DRYGASCON_CWORDS];
    uint32_t x[4];
    uint32_t r[4];
} drysponge;

/* Byte i of an array of words as a string. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define DRYSPONGE_BYTE(w, i) (((uint8_t *)(w))[(i) ^ 3u])
#else
#define DRYSPONGE_BYTE(w, i) (((uint8_t *)(w))[i])
#endif

/* Domains (section 4.1). */
#define DRYGASCON_DIVERSIFICATION 1
#define DRYGASCON_DATA 2
#define DRYGASCON_MESSAGE 3

/* (c, x) <- KS(K), K of a width that Table 2 knows (Algorithm 17) */
void drysponge_key(drysponge *s, const uint8_t *k, uint8_t width);

/*
 * (c, x, r) <- F(c, x, i, DS) with n <= 16 bytes of i, padded if there are
 * less (Algorithms 1, 5 and 6); domain is 0 before the last block of a phase.
 */
void drysponge_f(drysponge *s, const uint8_t *i, uint8_t n, uint8_t domain,
                 uint8_t finalize, uint8_t rounds);

/* (c, r) <- G(c) (Algorithm 2) */
void drysponge_g(drysponge *s, uint8_t rounds);

/*
 * Absorb(B, domain, finalize) with the rounds of all phases but the first
 * (Algorithm 7); of nothing, it absorbs one block of padding.
 */
void drysponge_absorb(drysponge *s, const uint8_t *b, size_t len,
                      uint8_t domain, uint8_t finalize);

/* Squeez(n), n a multiple of 16 (Algorithm 8) */
void drysponge_squeeze(drysponge *s, uint8_t *out, uint8_t n);

#endif
