/*
 * Ascon-Hash256 and Ascon-XOF128: SP 800-232, 5.1 and 5.2; Ascon-Hash,
 * Ascon-Hasha, Ascon-Xof and Ascon-Xofa: Ascon v1.2, "Hashing".
 */
#include "api.h"
#include "crypto_hash.h"
#include "sponge.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    ascon_state s;

    ascon_start(&s);
    ascon_absorb(&s, in, (size_t)inlen);
    ascon_squeeze(&s, out, CRYPTO_BYTES);
    return 0;
}
