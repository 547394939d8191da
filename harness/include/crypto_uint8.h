/* SUPERCOP's unsigned integer of 8 bits. */
#ifndef crypto_uint8_h
#define crypto_uint8_h
#include "steelyard_integers.h"
typedef uint8_t crypto_uint8;
SY_UNSIGNED_INTEGERS(crypto_uint8, uint8_t, int8_t, 8)
#endif
