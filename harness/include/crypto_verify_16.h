/* SUPERCOP's comparison of 16 bytes: 0 where they are equal, else -1. */
#ifndef crypto_verify_16_H
#define crypto_verify_16_H
#include "steelyard_verify.h"
#define crypto_verify_16_BYTES 16
static __inline__ __attribute__((unused)) int crypto_verify_16(const unsigned char *x, const unsigned char *y)
{
    return sy_verify(x, y, 16);
}
#endif
