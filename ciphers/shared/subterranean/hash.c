/*
 * Subterranean-XOF: Algorithm 2 of the specification, of one string and with
 * 256 bits of output.
 */
#include <string.h>

#include "api.h"
#include "crypto_hash.h"
#include "subterranean.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    subterranean s;
    size_t len = (size_t)inlen;

    memset(&s, 0, sizeof s);
    /* absorb(M, unkeyed): blocks of 8 bits, the last one empty */
    for (; len != 0; len--) {
        subterranean_duplex(&s, in++, 1);
        subterranean_duplex(&s, NULL, 0);
    }
    subterranean_blank(&s, 2 + 8);
    subterranean_squeeze(&s, out, CRYPTO_BYTES);
    return 0;
}
