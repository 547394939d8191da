/* SUPERCOP's comparison of 48 bytes: 0 where they are equal, else -1. */
#ifndef crypto_verify_48_H
#define crypto_verify_48_H
#include "steelyard_verify.h"
#define crypto_verify_48_BYTES 48
static __inline__ __attribute__((unused)) int crypto_verify_48(const unsigned char *x, const unsigned char *y)
{
    return sy_verify(x, y, 48);
}
#endif
