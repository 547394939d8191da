/* What the two modes of ForkAE have in common. */
#ifndef FORKAE_H
#define FORKAE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "forkskinny.h"

/* x || 10*, n < FORK_N bytes to a block */
static inline void forkae_pad(uint8_t *block, const uint8_t *x, size_t n)
{
    memset(block, 0, FORK_N);
    if (n != 0)
        memcpy(block, x, n);
    block[n] = 0x80;
}

static inline void forkae_add(uint8_t *x, const uint8_t *y)
{
    uint8_t i;

    for (i = 0; i < FORK_N; i++)
        x[i] ^= y[i];
}

/*
 * The end of decryption: difference is 0 for an authentic message of len
 * bytes, and anything else wipes it.
 */
static inline int forkae_release(uint8_t difference, uint8_t *m,
                                 unsigned long long *mlen, size_t len)
{
    if (difference != 0) {
        if (len != 0)
            memset(m, 0, len);
        return -1;
    }
    *mlen = len;
    return 0;
}

/*
 * The check of the last block: T' and the padding of M*, the bytes from n on,
 * that the inverse gave, with the n bytes of the tag.
 */
static inline uint8_t forkae_differ(const uint8_t *tag, const uint8_t *m,
                                    const uint8_t *t, uint8_t n)
{
    uint8_t difference = 0, i;

    for (i = 0; i < n; i++)
        difference |= (uint8_t)(t[i] ^ tag[i]);
    for (; i < FORK_N; i++)
        difference |= (uint8_t)(m[i] ^ (i == n ? 0x80 : 0));
    return difference;
}

#endif
