/* Romulus-T: leakage-resilient authenticated encryption (Figure 2.9). */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "romulus.h"
#include "romulus_h.h"

/* Domain separation (Table A.1) */
#define ENCRYPT (ROMULUS_MEMBER | 64)
#define UPDATE (ROMULUS_MEMBER | 65)
#define KDF (ROMULUS_MEMBER | 66)
#define TGF (ROMULUS_MEMBER | 68)

/* t = E_K^(T, B, D)(x) */
static void encipher(romulus *z, uint8_t *t, const uint8_t *x, uint8_t b)
{
    memcpy(z->s, x, 16);
    romulus_encipher(z, b);
    memcpy(t, z->s, 16);
}

static const uint8_t zero[16];

/* The next key of the message pass; T is zero there. */
static void set_key(romulus *z, const uint8_t *k)
{
    romulus_set_key(z, k);
    romulus_set_tweak(z, zero, 16);
}

/* Lines 5 to 13 */
static void crypt(uint8_t *out, const uint8_t *in, size_t len,
                  const uint8_t *npub, const uint8_t *k)
{
    romulus z;
    uint8_t s[16], pad[16], n, i;

    if (len == 0)
        return;
    romulus_start(&z);
    set_key(&z, k);
    encipher(&z, s, npub, KDF); /* D is the string 0^56 */
    romulus_start_counter(&z);
    for (;;) {
        set_key(&z, s);
        encipher(&z, pad, npub, ENCRYPT);
        n = (uint8_t)(len < 16 ? len : 16);
        for (i = 0; i < n; i++)
            out[i] = in[i] ^ pad[i];
        len -= n;
        if (len == 0)
            return;
        encipher(&z, s, npub, UPDATE);
        romulus_next_counter(&z);
        in += 16;
        out += 16;
    }
}

/* ipad*_n */
static void hash_padded(romulus_h *h, const uint8_t *x, size_t len)
{
    uint8_t pad[16], n = (uint8_t)(len & 15);

    if (len == 0)
        return;
    romulus_h_update(h, x, len);
    memset(pad, 0, 15);
    pad[15] = n;
    romulus_h_update(h, pad + n, (size_t)(16 - n));
}

/* Lines 14 to 17 */
static void tag(uint8_t *t, const uint8_t *ad, size_t adlen, const uint8_t *c,
                size_t clen, const uint8_t *npub, const uint8_t *k)
{
    /* one after the other, to save memory */
    union {
        romulus_h h;
        romulus z;
    } u;
    uint8_t m[7], h[32];
    size_t left;

    /* m, the number of blocks, as the counter has it */
    romulus_start_counter(&u.z);
    for (left = clen; left > 16; left -= 16)
        romulus_next_counter(&u.z);
    if (left != 0)
        romulus_next_counter(&u.z);
    memcpy(m, u.z.tk, 7);

    romulus_h_start(&u.h);
    hash_padded(&u.h, ad, adlen);
    hash_padded(&u.h, c, clen);
    romulus_h_update(&u.h, npub, 16);
    romulus_h_update(&u.h, m, 7);
    romulus_h_finish(&u.h, h);

    romulus_start(&u.z);
    romulus_set_key(&u.z, k);
    romulus_set_tweak(&u.z, h + 16, 16);
    encipher(&u.z, t, h, TGF);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + CRYPTO_ABYTES;
    crypt(c, m, len, npub, k);
    tag(c + len, ad, (size_t)adlen, c, len, npub, k);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    uint8_t t[CRYPTO_ABYTES];
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < CRYPTO_ABYTES)
        return -1;
    len -= CRYPTO_ABYTES;
    tag(t, ad, (size_t)adlen, c, len, npub, k);
    if (romulus_verify(t, c + len, m, 0) != 0)
        return -1;
    crypt(m, c, len, npub, k);
    *mlen = len;
    return 0;
}
