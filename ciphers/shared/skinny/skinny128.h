/*
 * The tweakable block ciphers SKINNY-128-256, SKINNY-128-384 (section 2.3 of
 * the SKINNY-AEAD specification) and SKINNY-128-384+ (section 2.3 of the
 * Romulus specification v1.3).
 *
 * "params.h" fixes SKINNY_TK, the number of tweakey arrays, 2 or 3, and
 * SKINNY_ROUNDS.
 */
#ifndef SKINNY128_H
#define SKINNY128_H

#include <stdint.h>

#include "params.h"

/* The block of 16 bytes, encrypted under tweakey TK1 || TK2 (|| TK3), arrays
 * of 16 bytes each */
#if SKINNY_TK == 3
void skinny128_encrypt(uint8_t *block, const uint8_t *tk1, const uint8_t *tk2,
                       const uint8_t *tk3);
void skinny128_decrypt(uint8_t *block, const uint8_t *tk1, const uint8_t *tk2,
                       const uint8_t *tk3);
#else
void skinny128_encrypt(uint8_t *block, const uint8_t *tk1, const uint8_t *tk2);
void skinny128_decrypt(uint8_t *block, const uint8_t *tk1, const uint8_t *tk2);
#endif

#endif
