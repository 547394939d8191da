/* SUPERCOP's comparison of 8 bytes: 0 where they are equal, else -1. */
#ifndef crypto_verify_8_H
#define crypto_verify_8_H
#include "steelyard_verify.h"
#define crypto_verify_8_BYTES 8
static __inline__ __attribute__((unused)) int crypto_verify_8(const unsigned char *x, const unsigned char *y)
{
    return sy_verify(x, y, 8);
}
#endif
