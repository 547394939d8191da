/*
 * ChaCha20 (RFC 8439, sections 2.1 to 2.4), in constant time.
 */
#ifndef CHACHA20_H
#define CHACHA20_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t load32le(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 |
           (uint32_t)p[1] << 8 | (uint32_t)p[0];
}

static inline void store32le(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

typedef struct {
    uint32_t start[16]; /* constants, key, counter, nonce */
    uint32_t x[16];     /* the block of the last counter */
} chacha20;

/* Key of 32 bytes, nonce of 12; the counter is 0. */
void chacha20_start(chacha20 *s, const uint8_t *k, const uint8_t *npub);

/* The block of the counter, which goes on. */
void chacha20_block(chacha20 *s);

/* out = in xor the blocks from the counter on. */
void chacha20_xor(chacha20 *s, uint8_t *out, const uint8_t *in, size_t len);

#endif
