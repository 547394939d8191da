/*
 * The tweakable block cipher TweGIFT-128 (ESTATE v1, section 2.3.3): GIFT-128
 * with a tweak of 4 bits.
 *
 * Strings are little-endian: byte 0 of a block or key has its lowest bits.
 */
#ifndef TWEGIFT128_H
#define TWEGIFT128_H

#include "gift128n.h"

/* x = E_K,t(x), a block of 16 bytes; the key is that of gift128n.h. */
void twegift128_encrypt(const gift128_key *key, uint8_t t, uint8_t *x);

#endif
