/*
 * The blocks that Elephant authenticates.
 */
#ifndef ELEPHANT_BLOCKS_H
#define ELEPHANT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api.h"
#include "instance.h"

#define NONCEBYTES CRYPTO_NPUBBYTES

/* Block i of X || 1, X having len bytes, of which p are those from block i
 * on. */
static inline void padded_block(uint8_t *block, const uint8_t *p, size_t len)
{
    if (len >= BLOCKBYTES) {
        memcpy(block, p, BLOCKBYTES);
        return;
    }
    memset(block, 0, BLOCKBYTES);
    if (len != 0)
        memcpy(block, p, len);
    block[len] = 1;
}

/* A_1, the first block of N || A || 1; what follows is A from byte
 * BLOCKBYTES - NONCEBYTES on. */
static inline void first_block(uint8_t *block, const uint8_t *npub,
                               const uint8_t *ad, size_t adlen)
{
    size_t n = BLOCKBYTES - NONCEBYTES;

    memset(block, 0, BLOCKBYTES);
    memcpy(block, npub, NONCEBYTES);
    if (adlen < n) {
        block[NONCEBYTES + adlen] = 1;
        n = adlen;
    }
    if (n != 0)
        memcpy(block + NONCEBYTES, ad, n);
}

#endif
