/*
 * What LOTUS-AEAD and LOCUS-AEAD (LOTUS-AEAD and LOCUS-AEAD v1) have in
 * common: initialization, associated data and tag (section 2.1, Algorithm 1).
 */
#ifndef COMMON_H
#define COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "twegift64.h"

typedef struct {
    twegift64_key key; /* of L */
    uint8_t l[16];     /* L, a power of alpha times K_N */
    uint8_t delta[8];  /* Delta_N */
    /* V+ ^ W+, which are used as a sum only */
    uint8_t checksum[8];
} mode;

/* L = L * alpha, and its round keys */
void next_key(mode *z);

/* x = x ^ y */
void add(uint8_t *x, const uint8_t *y);

/* init and proc_ad */
void start(mode *z, const uint8_t *k, const uint8_t *npub, const uint8_t *ad,
           size_t adlen);

/* proc_tg; the tag is left in the checksum. */
void proc_tg(mode *z);

/* proc_pt and proc_ct; len != 0 */
void proc_text(mode *z, uint8_t *out, const uint8_t *in, size_t len,
               uint8_t decrypt);

#endif
