/* Romulus-M: misuse-resistant authenticated encryption (Figure 2.7). */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "romulus.h"

/* Domain separation (Table A.1) */
#define A_MAIN (ROMULUS_MEMBER | 40)
#define M_AUTH_MAIN (ROMULUS_MEMBER | 44)
#define LAST (ROMULUS_MEMBER | 48)
#define A_PADDED 2
#define M_PADDED 1
#define A_EVEN 8
#define M_EVEN 4
#define M_ENC_MAIN (ROMULUS_MEMBER | 36)

/*
 * The blocks of A or of M, at least one: X[j] is added to S for odd j and is
 * the tweak of a call, with counter j - 1, for even j.  Gives what the last
 * block and the parity of the number of blocks add to w, under the bits
 * padded and even.
 */
static uint8_t authenticate(romulus *z, uint8_t *odd, const uint8_t *x,
                            size_t len, uint8_t b, uint8_t padded,
                            uint8_t even)
{
    uint8_t w = even;

    do {
        uint8_t size = *odd ? ROMULUS_T : 16; /* *odd: of blocks so far */
        uint8_t n = (uint8_t)(len < size ? len : size);

        if (*odd) {
            romulus_set_tweak(z, x, n);
            romulus_encipher(z, b);
        } else {
            romulus_absorb(z, x, n);
        }
        romulus_next_counter(z);
        *odd ^= 1;
        w ^= even;
        if (n < size)
            w |= padded;
        len -= n;
        if (len != 0)
            x += n;
    } while (len != 0);
    return w;
}

/* Lines 1 to 23: the tag */
static void mac(romulus *z, uint8_t *t, const uint8_t *ad, size_t adlen,
                const uint8_t *m, size_t mlen, const uint8_t *npub)
{
    uint8_t odd = 0, w = LAST;

    memset(z->s, 0, 16);
    romulus_start_counter(z);
    w |= authenticate(z, &odd, ad, adlen, A_MAIN, A_PADDED, A_EVEN);
    w |= authenticate(z, &odd, m, mlen, M_AUTH_MAIN, M_PADDED, M_EVEN);
    romulus_set_tweak(z, npub, ROMULUS_T);
    romulus_encipher(z, w);
    romulus_tag(t, z);
}

/* Lines 25 to 30, and lines 3 to 11 of decryption */
static void crypt(romulus *z, uint8_t *out, const uint8_t *in, size_t len,
                  const uint8_t *t, uint8_t decrypt)
{
    memcpy(z->s, t, 16);
    romulus_start_counter(z);
    while (len != 0) {
        uint8_t n = (uint8_t)(len < 16 ? len : 16);

        romulus_encipher(z, M_ENC_MAIN);
        romulus_crypt(z, out, in, n, decrypt);
        romulus_next_counter(z);
        in += n;
        out += n;
        len -= n;
    }
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
    mac(&z, c + len, ad, (size_t)adlen, m, len, npub);
    crypt(&z, c, m, len, c + len, 0);
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
    romulus_set_tweak(&z, npub, ROMULUS_T);
    crypt(&z, m, c, len, c + len, 1);
    mac(&z, t, ad, (size_t)adlen, m, len, npub);
    if (romulus_verify(t, c + len, m, len) != 0)
        return -1;
    *mlen = len;
    return 0;
}
