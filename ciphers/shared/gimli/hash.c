/* Gimli-24-Hash: Algorithm 4 of the specification. */
#include <string.h>

#include "api.h"
#include "crypto_hash.h"
#include "gimli.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    gimli_state g;
    uint8_t i;

    memset(&g, 0, sizeof g);
    gimli_process(&g, NULL, in, (size_t)inlen, GIMLI_ABSORB);
    for (i = 0; i < CRYPTO_BYTES; i++) {
        if (i == GIMLI_RATE)
            gimli(&g);
        out[i] = GIMLI_BYTE(&g, i % GIMLI_RATE);
    }
    return 0;
}
