/* Ascon-CXOF128: SP 800-232, 5.3. */
#include "crypto_cxof.h"
#include "sponge.h"

/* Z_0 <- int64(|Z|), the length of the customization string in bits. */
static void absorb_length(ascon_state *s, unsigned long long cslen)
{
    unsigned char z0[8];
    uint8_t j;

    z0[0] = (unsigned char)(cslen << 3);
    cslen >>= 5;
    for (j = 1; j < 8; j++) {
        z0[j] = (unsigned char)cslen;
        cslen >>= 8;
    }
    ascon_add(s, 0, z0, 8);
    ascon_permute(s, ASCON_ROUNDS);
}

int crypto_cxof(unsigned char *out, unsigned long long outlen,
                const unsigned char *in, unsigned long long inlen,
                const unsigned char *cs, unsigned long long cslen)
{
    ascon_state s;

    ascon_start(&s);
    absorb_length(&s, cslen);
    ascon_absorb(&s, cs, (size_t)cslen);
    ascon_absorb(&s, in, (size_t)inlen);
    ascon_squeeze(&s, out, (size_t)outlen);
    return 0;
}
