/* SUPERCOP's unsigned integer of 32 bits. */
#ifndef crypto_uint32_h
#define crypto_uint32_h
#include "steelyard_integers.h"
typedef uint32_t crypto_uint32;
SY_UNSIGNED_INTEGERS(crypto_uint32, uint32_t, int32_t, 32)
#endif
