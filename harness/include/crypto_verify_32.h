/* SUPERCOP's comparison of 32 bytes: 0 where they are equal, else -1. */
#ifndef crypto_verify_32_H
#define crypto_verify_32_H
#include "steelyard_verify.h"
#define crypto_verify_32_BYTES 32
static __inline__ __attribute__((unused)) int crypto_verify_32(const unsigned char *x, const unsigned char *y)
{
    return sy_verify(x, y, 32);
}
#endif
