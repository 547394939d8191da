/*
 * Saturnin-Hash (section 2.4): Merkle-Damgard with the compression function
 * Saturnin_16(t, m) ^ m.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_hash.h"
#include "saturnin.h"

/* t = m ^ Saturnin^d_16(t, m) */
static void compress(uint8_t *t, const uint8_t *m, uint8_t d)
{
    uint8_t x[32], i;

    for (i = 0; i < 32; i++)
        x[i] = m[i];
    saturnin_encrypt(16, d, t, x);
    for (i = 0; i < 32; i++)
        t[i] = x[i] ^ m[i];
}

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    uint8_t t[32], last[32], i;
    size_t len = (size_t)inlen;

    for (i = 0; i < 32; i++)
        t[i] = 0;
    while (len >= 32) {
        compress(t, in, 7);
        in += 32;
        len -= 32;
    }
    for (i = 0; i < 32; i++)
        last[i] = (uint8_t)(i < len ? in[i] : i == len ? 0x80 : 0);
    compress(t, last, 8);
    for (i = 0; i < 32; i++)
        out[i] = t[i];
    return 0;
}
