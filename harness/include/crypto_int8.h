/* SUPERCOP's signed integer of 8 bits. */
#ifndef crypto_int8_h
#define crypto_int8_h
#include "steelyard_integers.h"
typedef int8_t crypto_int8;
SY_SIGNED_INTEGERS(crypto_int8, int8_t, uint8_t, 8)
#endif
