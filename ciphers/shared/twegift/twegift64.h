/*
 * The tweakable block cipher TweGIFT-64 (LOTUS-AEAD and LOCUS-AEAD v1,
 * section 2.2): a block of 64 bits, a key of 128, a tweak of 4.
 *
 * Strings are little-endian: byte 0 of a block or key has its lowest bits.
 */
#ifndef TWEGIFT64_H
#define TWEGIFT64_H

#include <stdint.h>

typedef struct {
    uint16_t rk[56]; /* v and u of 28 rounds, in the order of twegift64.c */
} twegift64_key;

void twegift64_set_key(twegift64_key *key, const uint8_t *k);

/* x = E_K,t(x), a block of 8 bytes */
void twegift64_encrypt(const twegift64_key *key, uint8_t t, uint8_t *x);

/* x = E^-1_K,t(x) */
void twegift64_decrypt(const twegift64_key *key, uint8_t t, uint8_t *x);

#endif
