/*
 * Saturnin-Short (section 2.3): one block, the nonce and the padded message of
 * less than 16 bytes.  There is no associated data.
 */
#include <stddef.h>

#include "api.h"
#include "crypto_aead.h"
#include "saturnin.h"

#define SHORT 6 /* domain separator (Table 2) */

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    uint8_t x[32], i;

    (void)nsec;
    (void)ad;
    *clen = 0;
    if (mlen > 15 || adlen != 0)
        return -1;
    for (i = 0; i < 16; i++) {
        x[i] = npub[i];
        x[16 + i] = (uint8_t)(i < mlen ? m[i] : i == mlen ? 0x80 : 0);
    }
    saturnin_encrypt(10, SHORT, k, x);
    for (i = 0; i < 32; i++)
        c[i] = x[i];
    *clen = 32;
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t x[32], difference = 0, before = 0xff, n = 0, i;

    (void)nsec;
    (void)ad;
    *mlen = 0;
    if (clen != 32 || adlen != 0)
        return -1;
    for (i = 0; i < 32; i++)
        x[i] = c[i];
    saturnin_decrypt(SHORT, k, x);

    /* the nonce, and from the end of the message zeros up to 0x80 */
    for (i = 0; i < 16; i++)
        difference |= (uint8_t)(x[i] ^ npub[i]);
    for (i = 16; i-- != 0;) {
        /* all ones if the byte is not zero, and if it is not 0x80 */
        uint8_t data = (uint8_t)-((x[16 + i] + 0xffu) >> 8 & 1);
        uint8_t other = (uint8_t)-(((x[16 + i] ^ 0x80u) + 0xffu) >> 8 & 1);

        difference |= before & data & other;
        n |= before & data & i;
        before &= (uint8_t)~data;
    }
    if ((difference | before) != 0)
        return -1;
    for (i = 0; i < n; i++)
        m[i] = x[16 + i];
    *mlen = n;
    return 0;
}
