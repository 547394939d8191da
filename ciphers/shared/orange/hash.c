/* ORANGISH (Algorithm 1 of the specification): the mode of JH. */
#include "api.h"
#include "crypto_hash.h"
#include "orange.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    uint8_t x[32];
    uint8_t d[16]; /* D_i */
    uint8_t n, i;
    size_t len = (size_t)inlen;

    /* X = 0^n || D_0; without any block X = 0 is Z. */
    memset(x, 0, 32);
    memset(d, 0, 16);
    while (len != 0) {
        n = (uint8_t)(len < 16 ? len : 16);
        for (i = 0; i < n; i++)
            d[i] = *in++;
        if (n < 16) {
            d[n] = 1; /* pad(D_{d-1}) */
            while (++i < 16)
                d[i] = 0;
        }
        len -= n;
        /* A_{i-1} = D_{i-1} || D_i, on both sides of the permutation */
        for (i = 0; i < 16; i++)
            x[i] ^= d[i];
        photon256(x);
        for (i = 0; i < 16; i++)
            x[16 + i] ^= d[i];
        if (len == 0)
            x[0] ^= n < 16 ? 2 : 1; /* D_d */
    }

    photon256(x);
    memcpy(out, x, 16);
    photon256(x);
    memcpy(out + 16, x, 16);
    return 0;
}
