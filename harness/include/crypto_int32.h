/* SUPERCOP's signed integer of 32 bits. */
#ifndef crypto_int32_h
#define crypto_int32_h
#include "steelyard_integers.h"
typedef int32_t crypto_int32;
SY_SIGNED_INTEGERS(crypto_int32, int32_t, uint32_t, 32)
#endif
