/* SUPERCOP's unsigned integer of 16 bits. */
#ifndef crypto_uint16_h
#define crypto_uint16_h
#include "steelyard_integers.h"
typedef uint16_t crypto_uint16;
SY_UNSIGNED_INTEGERS(crypto_uint16, uint16_t, int16_t, 16)
#endif
