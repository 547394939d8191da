/* Ascon-CXOF128: SP 800-232, 5.3. */
#include "crypto_cxof.h"
#include "sponge.h"

#define MAX_CUSTOMIZATION 256   /* bytes: the standard allows 2048 bits */

/* Z_0 <- int64(|Z|), the length of the customization string in bits. */
static void absorb_length(ascon_state *s, uint16_t cslen)
{
    unsigned char z0[2];

    z0[0] = (unsigned char)(cslen << 3);
    z0[1] = (unsigned char)(cslen >> 5);
    ascon_add(s, 0, z0, 2);
    ascon_permute(s, ASCON_ROUNDS);
}

int crypto_cxof(unsigned char *out, unsigned long long outlen,
                const unsigned char *in, unsigned long long inlen,
                const unsigned char *cs, unsigned long long cslen)
{
    ascon_state s;

    if (cslen > MAX_CUSTOMIZATION)
        return -1;
    ascon_start(&s);
    absorb_length(&s, (uint16_t)cslen);
    ascon_absorb(&s, cs, (size_t)cslen);
    ascon_absorb(&s, in, (size_t)inlen);
    ascon_squeeze(&s, out, (size_t)outlen);
    return 0;
}
