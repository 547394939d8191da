/* Romulus-N: nonce-based authenticated encryption (Figure 2.5). */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "romulus.h"

/* Domain separation (Table A.1) */
#define A_MAIN (ROMULUS_MEMBER | 8)
#define A_LAST (ROMULUS_MEMBER | 24)
#define A_PADDED 2
#define M_MAIN (ROMULUS_MEMBER | 4)
#define M_LAST (ROMULUS_MEMBER | 20)
#define M_PADDED 1

/* Lines 1 to 11: blocks of n bits are added to S, those of t bits are tweaks.
 */
static void associate(romulus *z, const uint8_t *ad, size_t adlen,
                      const uint8_t *npub)
{
    uint8_t w = A_LAST, n;

    romulus_start_counter(z);
    for (;;) {
        /* A[2i - 1] */
        n = (uint8_t)(adlen < 16 ? adlen : 16);
        romulus_absorb(z, ad, n);
        romulus_next_counter(z);
        if (n < 16)
            w |= A_PADDED;
        adlen -= n;
        if (adlen == 0)
            break;
        ad += n;

        /* A[2i] */
        n = (uint8_t)(adlen < ROMULUS_T ? adlen : ROMULUS_T);
        romulus_set_tweak(z, ad, n);
        romulus_encipher(z, A_MAIN);
        romulus_next_counter(z);
        if (n < ROMULUS_T)
            w |= A_PADDED;
        adlen -= n;
        if (adlen == 0)
            break;
        ad += n;
    }
    romulus_set_tweak(z, npub, ROMULUS_T);
    romulus_encipher(z, w);
}

/* Lines 12 to 21 */
static void crypt(romulus *z, uint8_t *out, const uint8_t *in, size_t len,
                  uint8_t decrypt)
{
    romulus_start_counter(z);
    while (len > 16) {
        romulus_crypt(z, out, in, 16, decrypt);
        romulus_next_counter(z);
        romulus_encipher(z, M_MAIN);
        in += 16;
        out += 16;
        len -= 16;
    }
    romulus_crypt(z, out, in, (uint8_t)len, decrypt);
    romulus_next_counter(z);
    romulus_encipher(z, (uint8_t)(len < 16 ? M_LAST | M_PADDED : M_LAST));
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    romulus z;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    romulus_start(&z);
    romulus_set_key(&z, k);
    associate(&z, ad, (size_t)adlen, npub);
    crypt(&z, c, m, len, 0);
    romulus_tag(c + len, &z);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    romulus z;
    uint8_t t[CRYPTO_ABYTES];
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    romulus_start(&z);
    romulus_set_key(&z, k);
    associate(&z, ad, (size_t)adlen, npub);
    crypt(&z, m, c, len, 1);
    romulus_tag(t, &z);
    if (romulus_verify(t, c + len, m, len) != 0)
        return -1;
    *mlen = len;
    return 0;
}
