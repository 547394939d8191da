/* nocrypt behind FELICS-AE's interface: what it costs is subtracted from
 * every package that has that interface. */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"

int crypto_aead_encrypt(uint8_t *c, size_t *clen, const uint8_t *m,
                        size_t mlen, const uint8_t *ad, size_t adlen,
                        const uint8_t *npub, const uint8_t *k)
{
    (void)ad, (void)adlen, (void)npub, (void)k;
    if (mlen != 0 && c != m)
        memcpy(c, m, mlen);
    *clen = mlen + CRYPTO_ABYTES;
    return 0;
}

int crypto_aead_decrypt(uint8_t *m, size_t *mlen, const uint8_t *c,
                        size_t clen, const uint8_t *ad, size_t adlen,
                        const uint8_t *npub, const uint8_t *k)
{
    (void)ad, (void)adlen, (void)npub, (void)k;
    if (clen != 0 && m != c)
        memcpy(m, c, clen);
    *mlen = clen - CRYPTO_ABYTES;
    return 0;
}
