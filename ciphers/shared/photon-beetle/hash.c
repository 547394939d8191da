/*
 * PHOTON-Beetle-Hash[r] (section 3.3 of the specification, Figure 3.6).
 */
#include "api.h"
#include "beetle.h"
#include "crypto_hash.h"

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    beetle_state s;
    size_t len = (size_t)inlen;
    uint8_t first[16] = {0};

    memset(&s, 0, sizeof s);
    if (len != 0)
        memcpy(first, in, len < 16 ? len : 16);
    if (len != 0 && len < 16)
        first[len] = 1; /* Ozs_128 */
    beetle_add(&s, first, 16);
    if (len > 16)
        beetle_hash(&s, in + 16, len - 16, len % RATE == 0 ? 1 : 2);
    else
        beetle_add_constant(&s, len == 16 ? 2 : 1);

    /* TAG_256 */
    beetle_permute(&s);
    beetle_extract(&s, out, 16);
    beetle_permute(&s);
    beetle_extract(&s, out + 16, 16);
    return 0;
}
