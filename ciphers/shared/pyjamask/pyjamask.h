/*
 * The block ciphers Pyjamask-96 and Pyjamask-128 (Pyjamask v1.0, section 2.4).
 *
 * PYJAMASK_ROWS, from params.h, is 3 or 4.
 */
#ifndef PYJAMASK_H
#define PYJAMASK_H

#include <stdint.h>

#include "params.h"

#define PYJAMASK_BLOCK (4 * PYJAMASK_ROWS) /* bytes */

typedef struct {
    uint32_t rk[15][PYJAMASK_ROWS];
} pyjamask_key;

void pyjamask_set_key(pyjamask_key *key, const uint8_t *k);

/* The rows R_0, R_1, ... of the state */
void pyjamask_encrypt(const pyjamask_key *key, uint32_t *r);
void pyjamask_decrypt(const pyjamask_key *key, uint32_t *r);

/* Load and Unload: the first cell of a row is the highest bit */
void pyjamask_load(uint32_t *r, const uint8_t *p);
void pyjamask_unload(uint8_t *p, const uint32_t *r);

#endif
