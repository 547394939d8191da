/*
 * The primitives of Spook ("Spook: Sponge-Based Leakage-Resistant
 * Authenticated Encryption with a Masked Tweakable Block Cipher", submission
 * to the NIST LWC project, round 2): Clyde-128 and Shadow.
 *
 * Bytes are mapped to bits in little-endian order (section 3.1).
 */
#ifndef SPOOK_H
#define SPOOK_H

#include <stdint.h>

#include "params.h"

/* Bytes of Shadow's state: 64 for Shadow-512, 48 for Shadow-384 */
#define SHADOW_STATE (16 * SHADOW_BUNDLES)

/* x = E_k^t(x) and its inverse, all of 16 bytes */
void clyde128_encrypt(const uint8_t *k, const uint8_t *t, uint8_t *x);
void clyde128_decrypt(const uint8_t *k, const uint8_t *t, uint8_t *x);

/* s = pi(s) */
void shadow(uint8_t *s);

#endif
