/*
 * ACE-H-256: Algorithm 3.
 */
#include <string.h>

#include "ace.h"
#include "api.h"
#include "crypto_hash.h"

#define RATE 8u

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    ace_state s;
    uint8_t block[RATE] = {0};
    size_t len = (size_t)inlen;
    uint8_t i;

    /* Initialization: load-H(IV) */
    memset(&s, 0, sizeof s);
    s.w[ACE_B] = 0x80404000u;
    ace_permute(&s);

    /* Absorbing */
    for (; len >= RATE; len -= RATE) {
        ace_add(&s, in);
        ace_permute(&s);
        in += RATE;
    }
    for (i = 0; i < len; i++)
        block[i] = in[i];
    block[i] = 0x80;
    ace_add(&s, block);
    ace_permute(&s);

    /* Squeezing */
    for (i = 0;; i++) {
        ace_extract(&s, out);
        if (i == 3)
            return 0;
        out += RATE;
        ace_permute(&s);
    }
}
