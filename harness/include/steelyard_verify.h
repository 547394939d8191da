/* What SUPERCOP's crypto_verify_N.h have in common: in time that does not depend on the bytes. */
#ifndef STEELYARD_VERIFY_H
#define STEELYARD_VERIFY_H
static __inline__ __attribute__((unused)) int sy_verify(const unsigned char *x, const unsigned char *y, int n)
{
    unsigned difference = 0;
    int i;
    for (i = 0; i < n; i++)
        difference |= (unsigned)(x[i] ^ y[i]);
    return (int)(1 & ((difference - 1) >> 8)) - 1;
}
#endif
