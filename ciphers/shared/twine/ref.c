/*
 * TWINE (Suzaki, Minematsu, Morioka, Kobayashi, SAC 2012) as the paper
 * describes it, nibble by nibble; X0 is the high nibble of the first byte.
 * Time depends on data where memory has a cache.
 */
#include "bytes.h"
#include "schedule.h"

typedef struct {
    uint8_t rk[ROUNDS][8];
} context;
CONTEXT(context);

static const uint8_t box[16] = { 0xC, 0, 0xF, 0xA, 2, 0xB, 9, 5,
                                 8, 3, 0xD, 7, 1, 0xE, 6, 4 };
/* where the shuffle takes a nibble */
static const uint8_t shuffle[16] = { 5, 0, 1, 4, 7, 12, 3, 8,
                                     13, 6, 9, 2, 15, 10, 11, 14 };

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint8_t wk[NIBBLES], con = 1, i, j;

    for (i = 0; i < NIBBLES; i++)
        wk[i] = i % 2 == 0 ? k[i / 2] >> 4 : k[i / 2] & 15;
    for (i = 0;; i++) {
        uint8_t t[4];

        for (j = 0; j < 8; j++)
            c->rk[i][j] = wk[round_nibble[j]];
        if (i == ROUNDS - 1)
            return 0;
        wk[1] ^= box[wk[0]];
        wk[4] ^= box[wk[16]];
        if (NIBBLES == 32)
            wk[23] ^= box[wk[30 % NIBBLES]];
        wk[7] ^= con >> 3;
        wk[19] ^= con & 7;
        con = (uint8_t)(con << 1) ^ (con & 0x20 ? 0x43 : 0);
        for (j = 0; j < 4; j++)
            t[j] = wk[(j + 1) % 4];
        memmove(wk, wk + 4, NIBBLES - 4);
        memcpy(wk + NIBBLES - 4, t, 4);
    }
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

static void load(uint8_t *x, const uint8_t *in)
{
    uint8_t i;

    for (i = 0; i < 16; i++)
        x[i] = i % 2 == 0 ? in[i / 2] >> 4 : in[i / 2] & 15;
}

static void store(uint8_t *out, const uint8_t *x)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        out[i] = (uint8_t)(x[2 * i] << 4 | x[2 * i + 1]);
}

static void feistel(uint8_t *x, const uint8_t *rk)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        x[2 * i + 1] ^= box[x[2 * i] ^ rk[i]];
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint8_t x[16], t[16], i, j;

    load(x, in);
    for (i = 0; i < ROUNDS; i++) {
        feistel(x, c->rk[i]);
        if (i == ROUNDS - 1)
            break;
        memcpy(t, x, 16);
        for (j = 0; j < 16; j++)
            x[shuffle[j]] = t[j];
    }
    store(out, x);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint8_t x[16], t[16], i, j;

    load(x, in);
    for (i = ROUNDS; i-- > 0;) {
        feistel(x, c->rk[i]);
        if (i == 0)
            break;
        memcpy(t, x, 16);
        for (j = 0; j < 16; j++)
            x[j] = t[shuffle[j]];
    }
    store(out, x);
    return 0;
}
