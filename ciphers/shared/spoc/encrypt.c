/*
 * SpoC (section 2.2 of the specification, Algorithms 1 and 2).
 */
#include <string.h>

#include "api.h"
#include "crypto_aead.h"
#include "spoc.h"

#define TAGBYTES CRYPTO_ABYTES

/* subblocks that Z and Y begin with */
#define Z 0
#define Y 1

/* the control signal */
#define CTRL_PAR 1
#define CTRL_AD 2
#define CTRL_PT 4
#define CTRL_TAG 8

/* XORs it to the first four bits of Z. */
static void control(sliscp_light_state *s, uint8_t ctrl)
{
    s->x[0] ^= (uint32_t)ctrl << (SIMECK_M - 4);
}

/* Y <- Y ^ opt_oz_pad(I), n = |I| / 8, and the control signal */
static void mask(sliscp_light_state *s, const uint8_t *p, uint8_t n,
                 uint8_t ctrl)
{
    uint8_t block[SPOC_RATE] = {0};

    memcpy(block, p, n);
    if (n < SPOC_RATE) {
        block[n] = 0x80;
        ctrl |= CTRL_PAR;
    }
    spoc_add(s, Y, block);
    control(s, ctrl);
}

/* init and proc_ad */
static void start(sliscp_light_state *s, const uint8_t *ad, size_t adlen,
                  const uint8_t *npub, const uint8_t *k)
{
    memset(s, 0, sizeof *s);
    spoc_init(s, npub, k);

    while (adlen != 0) {
        uint8_t n = (uint8_t)(adlen < SPOC_RATE ? adlen : SPOC_RATE);

        sliscp_light(s, 18);
        mask(s, ad, n, CTRL_AD);
        ad += n;
        adlen -= n;
    }
}

/* proc_pt, decrypt = 0, and proc_ct, decrypt = 1 */
static void crypt(sliscp_light_state *s, uint8_t *out, const uint8_t *in,
                  size_t len, uint8_t decrypt)
{
    while (len != 0) {
        uint8_t n = (uint8_t)(len < SPOC_RATE ? len : SPOC_RATE), i;
        uint8_t y[SPOC_RATE], m[SPOC_RATE];

        sliscp_light(s, 18);
        spoc_extract(s, Z, y);
        for (i = 0; i < n; i++) {
            uint8_t x = *in++;

            y[i] ^= x;
            m[i] = decrypt ? y[i] : x;
            *out++ = y[i];
        }
        mask(s, m, n, CTRL_PT);
        len -= n;
    }
}

/* proc_tg */
static void finish(sliscp_light_state *s, uint8_t *t)
{
    control(s, CTRL_TAG);
    sliscp_light(s, 18);
    spoc_extract(s, Y, t);
}

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen,
                        const unsigned char *m, unsigned long long mlen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k)
{
    sliscp_light_state s;
    size_t len = (size_t)mlen;

    (void)nsec;
    *clen = len + TAGBYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    crypt(&s, c, m, len, 0);
    finish(&s, c + len);
    return 0;
}

int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen,
                        unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen,
                        const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *npub, const unsigned char *k)
{
    sliscp_light_state s;
    uint8_t t[TAGBYTES];
    uint8_t difference = 0, i;
    size_t len = (size_t)clen;

    (void)nsec;
    *mlen = 0;
    if (len < TAGBYTES)
        return -1;
    len -= TAGBYTES;
    start(&s, ad, (size_t)adlen, npub, k);
    crypt(&s, m, c, len, 1);
    finish(&s, t);

    for (i = 0; i < TAGBYTES; i++)
        difference |= (uint8_t)(t[i] ^ c[len + i]);
    if (difference != 0) {
        while (len != 0)
            m[--len] = 0;
        return -1;
    }
    *mlen = len;
    return 0;
}
