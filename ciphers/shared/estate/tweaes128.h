/*
 * The tweakable block ciphers TweAES-128 and TweAES-128-6 (ESTATE v1, sections
 * 2.3.1 and 2.3.2): AES-128 with a tweak of 4 bits.
 */
#ifndef TWEAES128_H
#define TWEAES128_H

#include "aes.h"

/* x = E^t_K(x) */
void tweaes128_encrypt(const aes_key *key, uint8_t t, uint8_t *x);

/* x = F^t_K(x), of six rounds */
void tweaes128_6_encrypt(const aes_key *key, uint8_t t, uint8_t *x);

#endif
