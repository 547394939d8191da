/* The known delay that `boards check` holds against a board's clock. It copies its message, and then turns a loop as
 * often as four bytes of associated data say, lowest first: how long that takes, the chip's own counter says. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api.h"
#include "crypto_aead.h"

static void wait(const unsigned char *rounds)
{
    volatile uint32_t left = rounds[0] | (uint32_t)rounds[1] << 8 | (uint32_t)rounds[2] << 16 | (uint32_t)rounds[3] << 24;

    while (left)
        left = left - 1;
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen, const unsigned char *nsec,
                        const unsigned char *npub, const unsigned char *k)
{
    (void)nsec;
    (void)npub;
    (void)k;
    if (mlen != 0 && c != m)
        memcpy(c, m, (size_t)mlen);
    if (adlen == 4)
        wait(ad);
    *clen = mlen;
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec, const unsigned char *c,
                        unsigned long long clen, const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    (void)nsec;
    (void)ad;
    (void)adlen;
    (void)npub;
    (void)k;
    if (clen != 0 && m != c)
        memcpy(m, c, (size_t)clen);
    *mlen = clen;
    return 0;
}
