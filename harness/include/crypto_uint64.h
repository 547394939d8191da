/* SUPERCOP's unsigned integer of 64 bits. */
#ifndef crypto_uint64_h
#define crypto_uint64_h
#include "steelyard_integers.h"
typedef uint64_t crypto_uint64;
SY_UNSIGNED_INTEGERS(crypto_uint64, uint64_t, int64_t, 64)
#endif
