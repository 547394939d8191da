/*
 * Rotations of reduced words that need not give reduced ones.
 */
#ifndef ROTATIONS_H
#define ROTATIONS_H

#include "rotate32.h"
#include "words.h"

#if CRYPTO_BLOCKBYTES == 8
#define LEFT(x, n) rotl32(x, n)
#define RIGHT(x, n) rotr32(x, n)
#else
#define LEFT(x, n) ((word)((word)((x) << (n)) | (x) >> (WORD_BITS - (n))))
#define RIGHT(x, n) ((word)((word)((x) << (WORD_BITS - (n))) | (x) >> (n)))
#endif

#endif
