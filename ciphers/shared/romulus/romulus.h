/*
 * Romulus v1.2 and v1.3: what the modes have in common.
 *
 * Sections and figures are those of v1.3; v1.2 has the same modes with 56
 * rounds of SKINNY-128-384 (members N1 and M1) and members that divide the
 * tweakey otherwise (N2, M2, N3, M3; its section 2.5.1).  "params.h" has
 *
 *   SKINNY_TK, SKINNY_ROUNDS   the tweakable block cipher
 *   ROMULUS_T                  t / 8, bytes of T
 *   ROMULUS_MEMBER             bits 7 and 6 of the domain separation byte
 *   ROMULUS_OPT32              if defined: the fixsliced cipher
 */
#ifndef ROMULUS_H
#define ROMULUS_H

#include <stddef.h>
#include <stdint.h>

#include "params.h"

#ifdef ROMULUS_OPT32
#include "skinny128_fixsliced.h"
#else
#include "skinny128.h"
#endif

/* encode(K, T, B, D): where the parts are in the tweakey */
#if ROMULUS_T == 16
#define ROMULUS_B_AT 7 /* lfsr56(D) || B || 0^64 || T || K */
#define ROMULUS_T_AT 16
#define ROMULUS_K_AT 32
#else
#define ROMULUS_B_AT 3 /* lfsr24(D1) || B || T || K (|| lfsr24(D2) || 0^104) */
#define ROMULUS_T_AT 4
#define ROMULUS_K_AT 16
#define ROMULUS_D2_AT 32
#endif

typedef struct {
    uint8_t s[16];              /* S */
    uint8_t tk[16 * SKINNY_TK]; /* encode(K, T, B, D) */
#ifdef ROMULUS_OPT32
    uint32_t schedule[SKINNY_SCHEDULE]; /* of K and T */
#endif
} romulus;

/* S = 0 and a tweakey of zeros */
void romulus_start(romulus *z);

/* K; T must follow. */
void romulus_set_key(romulus *z, const uint8_t *k);

/* T, all of it or n < t / 8 bytes padded (section 2.1) */
void romulus_set_tweak(romulus *z, const uint8_t *t, uint8_t n);

/* D = 0, and D = D + 1: the LFSR started at 1 and clocked D times */
void romulus_start_counter(romulus *z);
void romulus_next_counter(romulus *z);

/* S = E_K^(T, B, D)(S) */
void romulus_encipher(romulus *z, uint8_t b);

/* (S, eta) = rho(S, pad(in)) of n <= 16 bytes */
void romulus_absorb(romulus *z, const uint8_t *in, uint8_t n);

/* (S, out) = rho(S, in), decrypt = 0, or its inverse, decrypt = 1; out may be
 * in */
void romulus_crypt(romulus *z, uint8_t *out, const uint8_t *in, uint8_t n,
                   uint8_t decrypt);

/* G(S) */
void romulus_tag(uint8_t *t, const romulus *z);

/* 0 if the 16 bytes are equal; otherwise wipes m and gives -1 */
int romulus_verify(const uint8_t *t, const uint8_t *u, uint8_t *m, size_t len);

#endif
