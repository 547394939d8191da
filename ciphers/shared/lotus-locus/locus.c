/* LOCUS-AEAD: proc_pt and proc_ct of Algorithm 3. */
#include "common.h"

void proc_text(mode *z, uint8_t *out, const uint8_t *in, size_t len,
               uint8_t decrypt)
{
    uint8_t x[8], i;

    while (len > 8) { /* all blocks but the last */
        for (i = 0; i < 8; i++)
            x[i] = in[i] ^ z->delta[i];
        next_key(z);
        if (decrypt)
            twegift64_decrypt(&z->key, 4, x);
        else
            twegift64_encrypt(&z->key, 4, x);
        add(z->checksum, x);
        if (decrypt)
            twegift64_decrypt(&z->key, 4, x);
        else
            twegift64_encrypt(&z->key, 4, x);
        for (i = 0; i < 8; i++)
            out[i] = x[i] ^ z->delta[i];
        in += 8;
        out += 8;
        len -= 8;
    }

    /* the last one: its length in 64 bits, in bytes (the text says bits; the
     * known answers do not) */
    for (i = 0; i < 8; i++)
        x[i] = z->delta[i];
    x[0] ^= (uint8_t)len;
    next_key(z);
    twegift64_encrypt(&z->key, 5, x);
    add(z->checksum, x);
    twegift64_encrypt(&z->key, 5, x);
    for (i = 0; i < len; i++) {
        uint8_t byte = in[i], o = byte ^ x[i] ^ z->delta[i];

        z->checksum[i] ^= decrypt ? o : byte;
        out[i] = o;
    }
}
