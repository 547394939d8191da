/* LOTUS-AEAD: proc_pt of Algorithm 1 and proc_ct of Algorithm 2. */
#include "common.h"

/* x = E_L,t(E_L,t(x)), the value in between going into the checksum */
static void twice(mode *z, uint8_t t, uint8_t *x)
{
    twegift64_encrypt(&z->key, t, x);
    add(z->checksum, x);
    twegift64_encrypt(&z->key, t, x);
}

void proc_text(mode *z, uint8_t *out, const uint8_t *in, size_t len,
               uint8_t decrypt)
{
    /* tweaks of the upper and the lower layer */
    const uint8_t upper = decrypt ? 5 : 4, lower = decrypt ? 4 : 5;
    uint8_t x1[8], x2[8], y[8], n, i;

    while (len > 16) { /* all di-blocks but the last */
        for (i = 0; i < 8; i++) {
            x1[i] = in[i] ^ z->delta[i];
            y[i] = x1[i];
        }
        next_key(z);
        twice(z, upper, y);
        for (i = 0; i < 8; i++) {
            x2[i] = in[8 + i] ^ y[i];
            y[i] = x2[i];
        }
        twice(z, lower, y);
        for (i = 0; i < 8; i++) {
            out[i] = x2[i] ^ z->delta[i];
            out[8 + i] = x1[i] ^ y[i];
        }
        in += 16;
        out += 16;
        len -= 16;
    }

    /* The last one: its length in 64 bits, in bytes (the text says bits; the
     * known answers do not).  Both blocks are encrypted by adding, the first
     * one Y_1 ^ Delta_N, the second one X_1 ^ Y_2. */
    for (i = 0; i < 8; i++)
        x1[i] = z->delta[i];
    x1[0] ^= (uint8_t)len;
    for (i = 0; i < 8; i++)
        x2[i] = x1[i];
    next_key(z);
    twice(z, 12, x2);

    n = (uint8_t)(len < 8 ? len : 8);
    for (i = 0; i < n; i++) {
        uint8_t x = in[i], o = x ^ x2[i] ^ z->delta[i];
        uint8_t m = decrypt ? o : x;

        x2[i] ^= m;
        if (len <= 8) /* the last block of M */
            z->checksum[i] ^= m;
        out[i] = o;
    }
    if (len <= 8)
        return;

    twice(z, 13, x2);
    n = (uint8_t)(len - 8);
    for (i = 0; i < n; i++) {
        uint8_t x = in[8 + i], o = x ^ x1[i] ^ x2[i];

        z->checksum[i] ^= decrypt ? o : x;
        out[8 + i] = o;
    }
}
