/*
 * Xoodyak: the Cyclist mode of operation on Xoodoo[12], with the interfaces
 * and the names of Algorithms 2 and 3 of the Xoodyak specification.
 *
 * The mode, CYCLIST_HASH or CYCLIST_KEYED, is fixed by params.h.
 */
#ifndef CYCLIST_H
#define CYCLIST_H

#define CYCLIST_HASH 0
#define CYCLIST_KEYED 1

#include "params.h"
#include "xoodoo.h"

#ifndef CYCLIST_ID_BYTES
#define CYCLIST_ID_BYTES 16
#endif

/* Definition 2 */
#define R_HASH 16u
#define R_KIN 44u
#define R_KOUT 24u

typedef struct {
    xoodoo_state s;
    uint8_t phase;
} cyclist;

#if CYCLIST_MODE == CYCLIST_KEYED

/* Cyclist(K, id, empty counter) with 16-byte K and an id of as many or, where
 * params.h says so, no bytes */
void cyclist_keyed(cyclist *z, const uint8_t *key, const uint8_t *id);

/* Encrypt(P), decrypt = 0, and Decrypt(C), decrypt = 1; out may be in. */
void cyclist_crypt(cyclist *z, uint8_t *out, const uint8_t *in, size_t len,
                   uint8_t decrypt);

#else

/* Cyclist(empty, empty, empty) */
void cyclist_hash(cyclist *z);

#endif

void cyclist_absorb(cyclist *z, const uint8_t *x, size_t len);
void cyclist_squeeze(cyclist *z, uint8_t *y, uint8_t len);

#endif
