/*
 * SKINNY-tk3-Hash and SKINNY-tk2-Hash: a sponge with a function built on
 * SKINNY-128 (section 2.5 of the specification, Algorithms 13 and 14).
 */
#include <string.h>

#include "api.h"
#include "crypto_hash.h"
#include "skinny128.h"

#define STATEBYTES (16 * SKINNY_TK)
#define RATE (SKINNY_TK == 3 ? 16 : 4) /* while absorbing */

/* F_384 or F_256: the state is the tweakey that enciphers 0, 1, 2. */
static void f(uint8_t *s)
{
    uint8_t y[STATEBYTES], i;

    memset(y, 0, sizeof y);
    for (i = 0; i < SKINNY_TK; i++) {
        y[16 * i] = i;
#if SKINNY_TK == 3
        skinny128_encrypt(y + 16 * i, s, s + 16, s + 32);
#else
        skinny128_encrypt(y + 16 * i, s, s + 16);
#endif
    }
    memcpy(s, y, sizeof y);
}

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    uint8_t s[STATEBYTES], i;
    size_t len = (size_t)inlen;

    memset(s, 0, sizeof s);
    s[RATE] = 0x80; /* c_IV */

    /* absorbing phase, pad10* */
    for (; len >= RATE; len -= RATE) {
        for (i = 0; i < RATE; i++)
            s[i] ^= *in++;
        f(s);
    }
    for (i = 0; i < len; i++)
        s[i] ^= *in++;
    s[i] ^= 0x80;
    f(s);

    /* squeezing phase */
    memcpy(out, s, 16);
    f(s);
    memcpy(out + 16, s, 16);
    return 0;
}
