/* Romulus-H (section 2.4.6). */
#include "api.h"
#include "crypto_hash.h"
#include "romulus_h.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    romulus_h h;

    romulus_h_start(&h);
    romulus_h_update(&h, in, (size_t)inlen);
    romulus_h_finish(&h, out);
    return 0;
}
