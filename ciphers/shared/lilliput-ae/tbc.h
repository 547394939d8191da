/*
 * Lilliput-TBC (LILLIPUT-AE v1.1): blocks of 128 bits, keys of 128, 192 or
 * 256 bits, tweaks of LILLIPUT_TWEAK bytes, 24 (Lilliput-I) or 16
 * (Lilliput-II), from params.h.
 */
#ifndef TBC_H
#define TBC_H

#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "params.h"

#define TBC_BLOCK 16
#define TBC_TWEAK LILLIPUT_TWEAK
#define TBC_ROUNDS                                                           \
    (CRYPTO_KEYBYTES == 16 ? 32 : CRYPTO_KEYBYTES == 24 ? 36 : 42)
#define TBC_LANE 8

/* What key and round constants contribute to the round tweakeys: the tweakey
 * schedule is linear. */
typedef struct {
    uint8_t rtk[TBC_ROUNDS][TBC_LANE];
} tbc_key;

void tbc_set_key(tbc_key *key, const uint8_t *k);
void tbc_encrypt(const tbc_key *key, const uint8_t *tweak, uint8_t *x);
void tbc_decrypt(const tbc_key *key, const uint8_t *tweak, uint8_t *x);

#endif
