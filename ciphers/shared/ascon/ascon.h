/*
 * The Ascon state and permutation, as the modes see them.
 *
 * The state is five 64-bit words S_0 .. S_4 (SP 800-232, 3.1; x_0 .. x_4 in
 * Ascon v1.2).  How a word is kept in memory is a private matter of "state.h",
 * which is state_small.h or state_fast.h; "parameters.h" describes the variant
 * and says which end of a word is its first byte.
 */
#ifndef ASCON_H
#define ASCON_H

#include <stddef.h>
#include <stdint.h>

#include "parameters.h"

/*
 * Two representations of a word:
 *   columns (8-bit processors): eight bytes, one for each bit position modulo 8;
 *   words   (all others): one 64-bit number or a pair of 32-bit numbers.
 */
#ifndef ASCON_COLUMNS
#if defined(__AVR__)
#define ASCON_COLUMNS 1
#else
#define ASCON_COLUMNS 0
#endif
#endif

/*
 * "state.h" gives the type ascon_state and these operations; i is the index of
 * a word, n <= 8 a number of bytes.
 *
 *   ascon_permute(s, rounds)      S <- Ascon-p[rounds](S)
 *   ASCON_ADD_CONSTANT(s, i, v)   S_i <- S_i ^ v, v a 64-bit literal
 *   ascon_add(s, i, p, n)         first n bytes of S_i ^= p
 *   ascon_add_padding(s, i, n)    bit 1 that starts the padding, at byte n < 8
 *   ascon_extract(s, i, p, n)     p <- first n bytes of S_i
 *   ascon_crypt(s, i, out, in, n, what)
 *       ABSORB    first n bytes of S_i ^= in
 *       ENCRYPT   the same, then out <- first n bytes of S_i
 *       DECRYPT   out <- first n bytes of S_i ^ in, then those bytes <- in
 *       in and out may be the same; ABSORB does not look at out
 */
enum { ASCON_ABSORB, ASCON_ENCRYPT, ASCON_DECRYPT };

#include "state.h"

/*
 * The round constants c_i (SP 800-232, 3.2) of 12 rounds are 0xf0, 0xe1, ...,
 * 0x4b, each 0x0f less than the one before; fewer rounds are the last ones.
 */
#define ASCON_FIRST_CONSTANT(rounds) ((uint8_t)(0x3c + 0x0f * (rounds)))
#define ASCON_CONSTANT_STEP 0x0f
#define ASCON_AFTER_LAST_CONSTANT 0x3c

#endif
