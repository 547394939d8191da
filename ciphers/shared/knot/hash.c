/*
 * KNOT-Hash (section 5 of the specification, Algorithm 2).
 */
#include <string.h>

#include "api.h"
#include "crypto_hash.h"
#include "knot.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    knot_state s;
    size_t len = (size_t)inlen;
    uint8_t i;

    /* initialization (5.3) */
    memset(&s, 0, sizeof s);
    KNOT_BYTE(&s, KNOT_B - 1u) = KNOT_HASH_IV;

    /* absorbing (5.4) */
    for (; len >= RATE; len -= RATE) {
        for (i = 0; i < RATE; i++)
            KNOT_BYTE(&s, i) ^= *in++;
        knot_permute(&s, KNOT_NRH);
    }
    for (i = 0; i < len; i++)
        KNOT_BYTE(&s, i) ^= *in++;
    KNOT_BYTE(&s, i) ^= 1;
    knot_permute(&s, KNOT_NRH);

    /* squeezing (5.5): n = 2r' */
    for (i = 0; i < CRYPTO_BYTES / 2; i++)
        *out++ = KNOT_BYTE(&s, i);
    knot_permute(&s, KNOT_NRH);
    for (i = 0; i < CRYPTO_BYTES / 2; i++)
        *out++ = KNOT_BYTE(&s, i);
    return 0;
}
