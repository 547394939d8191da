/*
 * The block cipher Saturnin (Saturnin v1.1, section 2.1): a block and a key of
 * 256 bits.
 *
 * Blocks and keys are sixteen registers of 16 bits, little-endian, in their
 * order (section 3.1, the "bits" representation).
 */
#ifndef SATURNIN_H
#define SATURNIN_H

#include <stdint.h>

/* x = Saturnin^d_r(k, x), with r super-rounds, an even number, and the domain
 * separator d */
void saturnin_encrypt(uint8_t r, uint8_t d, const uint8_t *k, uint8_t *x);

/* x = (Saturnin^d_10)^-1(k, x) */
void saturnin_decrypt(uint8_t d, const uint8_t *k, uint8_t *x);

#endif
