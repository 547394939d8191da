/*
 * The sponge that the hash functions and XOFs share (SP 800-232, section 5;
 * Ascon v1.2, "Hashing"): rate 64 bits, Ascon-p[12] everywhere, except that
 * Ascon-Hasha and Ascon-Xofa have ASCON_B rounds between two blocks.
 */
#ifndef SPONGE_H
#define SPONGE_H

#include "ascon.h"

#define ASCON_ROUNDS 12
#ifndef ASCON_B
#define ASCON_B ASCON_ROUNDS
#endif

/* S <- Ascon-p[12](IV || 0*) */
void ascon_start(ascon_state *s);

/* Absorb a string, padded with 1 || 0*; the permutation follows every block. */
void ascon_absorb(ascon_state *s, const unsigned char *in, size_t len);

/* Squeeze, without a permutation after the last block. */
void ascon_squeeze(ascon_state *s, unsigned char *out, size_t len);

#endif
