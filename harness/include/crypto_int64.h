/* SUPERCOP's signed integer of 64 bits. */
#ifndef crypto_int64_h
#define crypto_int64_h
#include "steelyard_integers.h"
typedef int64_t crypto_int64;
SY_SIGNED_INTEGERS(crypto_int64, int64_t, uint64_t, 64)
#endif
