/*
 * Xoodyak, hash mode (section 3.1 of the specification): 32 bytes of digest.
 */
#include "api.h"
#include "crypto_hash.h"
#include "cyclist.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    cyclist z;

    cyclist_hash(&z);
    cyclist_absorb(&z, in, (size_t)inlen);
    cyclist_squeeze(&z, out, CRYPTO_BYTES);
    return 0;
}
