/*
 * ISAP: what the mode needs of a permutation (section 2.4 of the specification
 * of ISAP v2.0).  "sponge.h" is sponge_ascon.h or sponge_keccak.h and gives
 *
 *   isap_state                     the n-bit state S
 *   ISAP_STATE                     n, in bytes
 *   ISAP_RATE                      r_h, in bytes
 *   isap_permute(s, rounds)        S <- p(S)
 *   isap_add(s, p, n)              first n bytes of S ^= p, n <= ISAP_STATE
 *   isap_add_padding(s, n)         bit 1 that starts the padding, at byte n
 *   isap_add_bit(s, bit)           first bit of S ^= bit
 *   isap_separate(s)               S <- S ^ (0^{n-1} || 1)
 *   isap_replace(s, i, p, n)       bytes i .. i + n - 1 of S <- p; i is
 *                                  ISAP_STATE - 16, with n = 16, or 0
 *   isap_extract(s, p, n)          p <- first n bytes of S
 *   isap_crypt(s, out, in, n)      out <- first n bytes of S, n <= ISAP_RATE,
 *                                  ^ in
 *
 * and "params.h" the numbers of rounds (Table 2.2).
 */
#ifndef ISAP_H
#define ISAP_H

#include <stddef.h>
#include <stdint.h>

#include "params.h"
#include "sponge.h"

#define ISAP_K 16u      /* k, in bytes: key, nonce, tag and Y */

#endif
