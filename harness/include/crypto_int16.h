/* SUPERCOP's signed integer of 16 bits. */
#ifndef crypto_int16_h
#define crypto_int16_h
#include "steelyard_integers.h"
typedef int16_t crypto_int16;
SY_SIGNED_INTEGERS(crypto_int16, int16_t, uint16_t, 16)
#endif
