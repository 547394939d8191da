/*
 * RECTANGLE in constant time: the S-box as a circuit on rows.
 */
#include "bytes.h"
#include "rows.h"

typedef uint16_t slice;
#include "circuits.h"

static void sub_key(key_row *v)
{
    slice x[4];
    uint8_t i;

    for (i = 0; i < 4; i++)
        x[i] = (slice)v[i];
    sbox(x);
    for (i = 0; i < 4; i++)
        v[i] ^= ((key_row)x[i] ^ v[i]) & KEY_COLUMNS;
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    const uint16_t *k = c->k[0];
    slice x[4];
    uint8_t i;

    x[0] = LOAD16LE(in);
    x[1] = LOAD16LE(in + 2);
    x[2] = LOAD16LE(in + 4);
    x[3] = LOAD16LE(in + 6);
    for (i = 0; i < ROUNDS; i++, k += 4) {
        x[0] ^= k[0];
        x[1] ^= k[1];
        x[2] ^= k[2];
        x[3] ^= k[3];
        sbox(x);
        x[1] = rol16(x[1], 1);
        x[2] = rol16(x[2], 12);
        x[3] = rol16(x[3], 13);
    }
    x[0] ^= k[0];
    x[1] ^= k[1];
    x[2] ^= k[2];
    x[3] ^= k[3];
    STORE16LE(out, x[0]);
    STORE16LE(out + 2, x[1]);
    STORE16LE(out + 4, x[2]);
    STORE16LE(out + 6, x[3]);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    const uint16_t *k = c->k[ROUNDS];
    slice x[4];
    uint8_t i;

    x[0] = LOAD16LE(in) ^ k[0];
    x[1] = LOAD16LE(in + 2) ^ k[1];
    x[2] = LOAD16LE(in + 4) ^ k[2];
    x[3] = LOAD16LE(in + 6) ^ k[3];
    for (i = 0; i < ROUNDS; i++) {
        k -= 4;
        x[1] = rol16(x[1], 15);
        x[2] = rol16(x[2], 4);
        x[3] = rol16(x[3], 3);
        inverse_sbox(x);
        x[0] ^= k[0];
        x[1] ^= k[1];
        x[2] ^= k[2];
        x[3] ^= k[3];
    }
    STORE16LE(out, x[0]);
    STORE16LE(out + 2, x[1]);
    STORE16LE(out + 4, x[2]);
    STORE16LE(out + 6, x[3]);
    return 0;
}
