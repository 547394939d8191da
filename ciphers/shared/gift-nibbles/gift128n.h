/*
 * GIFT-128 on nibbles (see nibbles.h) by way of the bit-sliced one.
 */
#ifndef GIFT128N_H
#define GIFT128N_H

#include "gift128.h"

/* k[15] holds the highest bits of the key. */
void gift128n_set_key(gift128_key *key, const uint8_t *k);

/* y = E_K(y), a block of 16 bytes */
void gift128n_encrypt(const gift128_key *key, uint8_t *y);

#endif
