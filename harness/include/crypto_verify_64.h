/* SUPERCOP's comparison of 64 bytes: 0 where they are equal, else -1. */
#ifndef crypto_verify_64_H
#define crypto_verify_64_H
#include "steelyard_verify.h"
#define crypto_verify_64_BYTES 64
static __inline__ __attribute__((unused)) int crypto_verify_64(const unsigned char *x, const unsigned char *y)
{
    return sy_verify(x, y, 64);
}
#endif
