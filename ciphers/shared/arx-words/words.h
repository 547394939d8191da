/*
 * Words of 16, 24, 32, 48 or 64 bits, as SIMON and SPECK have them: half a
 * block. Words of 24 and 48 bits lie in the next larger type; bits above are 0.
 */
#ifndef WORDS_H
#define WORDS_H

#include "bytes.h"

#define WORD_BITS (4 * CRYPTO_BLOCKBYTES)
#define WORD_BYTES (CRYPTO_BLOCKBYTES / 2)
#define KEY_WORDS (CRYPTO_KEYBYTES / WORD_BYTES) /* m */

#if CRYPTO_BLOCKBYTES == 4
typedef uint16_t word;
#elif CRYPTO_BLOCKBYTES <= 8
typedef uint32_t word;
#else
typedef uint64_t word;
#endif

#if CRYPTO_BLOCKBYTES == 6
#define WORD(x) ((word)((x) & 0xffffff))
#elif CRYPTO_BLOCKBYTES == 12
#define WORD(x) ((word)((x) & 0xffffffffffff))
#else
#define WORD(x) ((word)(x))
#endif

static inline word rol(word x, uint8_t n)
{
    return WORD((word)(x << n) | x >> (WORD_BITS - n));
}

static inline word ror(word x, uint8_t n)
{
    return WORD((word)(x << (WORD_BITS - n)) | x >> n);
}

static inline word load(const uint8_t *p)
{
#if CRYPTO_BLOCKBYTES == 4
    return LOAD16BE(p);
#elif CRYPTO_BLOCKBYTES == 6
    return (uint32_t)p[0] << 16 | LOAD16BE(p + 1);
#elif CRYPTO_BLOCKBYTES == 8
    return load32be(p);
#elif CRYPTO_BLOCKBYTES == 12
    return (uint64_t)LOAD16BE(p) << 32 | load32be(p + 2);
#else
    return load64be(p);
#endif
}

static inline void store(uint8_t *p, word x)
{
#if CRYPTO_BLOCKBYTES == 4
    STORE16BE(p, x);
#elif CRYPTO_BLOCKBYTES == 6
    p[0] = (uint8_t)(x >> 16);
    STORE16BE(p + 1, x);
#elif CRYPTO_BLOCKBYTES == 8
    store32be(p, x);
#elif CRYPTO_BLOCKBYTES == 12
    STORE16BE(p, x >> 32);
    store32be(p + 2, (uint32_t)x);
#else
    store64be(p, x);
#endif
}

#endif
