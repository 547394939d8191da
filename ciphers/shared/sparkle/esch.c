/*
 * ESCH: Algorithms 2.9 and 2.10 of the specification (section 2.2); XOESCH is
 * the same with other constants and output of any length, here CRYPTO_BYTES.
 */
#include <string.h>

#include "api.h"
#include "crypto_hash.h"
#include "sparkle.h"

#define RATE 16         /* r, in bytes */

/*
 * Const_M: ESCH_PADDED or ESCH_FULL at the last byte of the left branches.
 */
#define CONSTANT_BYTE (4 * SPARKLE_BRANCHES - 1)

/* S ^ M_hb(P || 0*): P is all of (x_0, y_0) and (x_1, y_1). */
static void inject(sparkle_state *s, const uint32_t *p)
{
    uint32_t tx = p[0] ^ p[2], ty = p[1] ^ p[3];
    uint8_t i;

    tx = SPARKLE_ELL(tx);
    ty = SPARKLE_ELL(ty);
    for (i = 0; i < SPARKLE_BRANCHES; i = (uint8_t)(i + 2)) {
        s->w[i] ^= ty;
        s->w[i + 1] ^= tx;
    }
    for (i = 0; i < RATE / 4; i++)
        s->w[i] ^= p[i];
}

int crypto_hash(unsigned char *out, const unsigned char *in,
                unsigned long long inlen)
{
    sparkle_state s;
    uint32_t p[RATE / 4];
    size_t len = (size_t)inlen;
    uint8_t left;

    memset(&s, 0, sizeof s);

    /* Absorption */
    while (len > RATE) {
        sparkle_load(p, in, RATE);
        inject(&s, p);
        sparkle(&s, SPARKLE_SLIM);
        in += RATE;
        len -= RATE;
    }
    memset(p, 0, sizeof p);
    if (len != 0)
        sparkle_load(p, in, (uint8_t)len);
    if (len < RATE) {
        SPARKLE_BYTE(p, len) = 0x80;    /* pad_r (Algorithm 2.8) */
        SPARKLE_BYTE(s.w, CONSTANT_BYTE) ^= ESCH_PADDED;
    } else {
        SPARKLE_BYTE(s.w, CONSTANT_BYTE) ^= ESCH_FULL;
    }
    inject(&s, p);
    sparkle(&s, SPARKLE_BIG);

    /* Squeezing */
    sparkle_store(out, s.w, RATE);
    for (left = CRYPTO_BYTES / RATE - 1; left != 0; left--) {
        sparkle(&s, SPARKLE_SLIM);
        out += RATE;
        sparkle_store(out, s.w, RATE);
    }
    return 0;
}
