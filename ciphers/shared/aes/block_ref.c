/*
 * AES as FIPS 197 describes it, byte by byte. The state is column after
 * column, as the input. Time depends on data where memory has a cache.
 */
#include "bytes.h"
#include "block_sbox.h"

#define ROUNDS (6 + CRYPTO_KEYBYTES / 4)
#define WORDS (CRYPTO_KEYBYTES / 4) /* Nk */

typedef struct {
    uint8_t w[4 * (ROUNDS + 1)][4];
} context;
CONTEXT(context);

/* By a mask: of a condition an AVR's compiler makes a branch. */
static uint8_t xtime(uint8_t x)
{
    return (uint8_t)((uint8_t)(x << 1) ^ (0x1b & -(x >> 7)));
}

static void add_round_key(uint8_t *s, const uint8_t (*w)[4])
{
    uint8_t i;

    for (i = 0; i < 16; i++)
        s[i] ^= w[i / 4][i % 4];
}

static void sub_bytes(uint8_t *s)
{
    uint8_t i;

    for (i = 0; i < 16; i++)
        s[i] = ENTRY8(sbox[s[i]]);
}

static void inv_sub_bytes(uint8_t *s)
{
    uint8_t i;

    for (i = 0; i < 16; i++)
        s[i] = ENTRY8(inverse_sbox[s[i]]);
}

/* Row r by `by` times r columns to the left. */
static void shift_rows(uint8_t *s, uint8_t by)
{
    uint8_t t[16], i;

    memcpy(t, s, 16);
    for (i = 0; i < 16; i++)
        s[i] = t[(i + 4 * by * (i % 4)) % 16];
}

static void mix_columns(uint8_t *s)
{
    uint8_t c;

    for (c = 0; c < 16; c = (uint8_t)(c + 4)) {
        uint8_t a = s[c], all = s[c] ^ s[c + 1] ^ s[c + 2] ^ s[c + 3], r;

        for (r = 0; r < 4; r++) {
            uint8_t next = r == 3 ? a : s[c + r + 1];

            s[c + r] ^= all ^ xtime(s[c + r] ^ next);
        }
    }
}

/* InvMixColumns is MixColumns behind the addition of 4 (row r + row r + 2). */
static void inv_mix_columns(uint8_t *s)
{
    uint8_t c;

    for (c = 0; c < 16; c = (uint8_t)(c + 4)) {
        uint8_t even = xtime(xtime(s[c] ^ s[c + 2]));
        uint8_t odd = xtime(xtime(s[c + 1] ^ s[c + 3]));

        s[c] ^= even;
        s[c + 1] ^= odd;
        s[c + 2] ^= even;
        s[c + 3] ^= odd;
    }
    mix_columns(s);
}

/* KeyExpansion, 5.2 */
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint8_t rcon = 1, i, j;

    memcpy(c->w, k, CRYPTO_KEYBYTES);
    for (i = WORDS; i < 4 * (ROUNDS + 1); i++) {
        uint8_t t[4];

        memcpy(t, c->w[i - 1], 4);
        if (i % WORDS == 0) {
            uint8_t first = t[0];

            for (j = 0; j < 4; j++)
                t[j] = ENTRY8(sbox[j == 3 ? first : t[j + 1]]);
            t[0] ^= rcon;
            rcon = xtime(rcon);
        } else if (WORDS > 6 && i % WORDS == 4) {
            for (j = 0; j < 4; j++)
                t[j] = ENTRY8(sbox[t[j]]);
        }
        for (j = 0; j < 4; j++)
            c->w[i][j] = c->w[i - WORDS][j] ^ t[j];
    }
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint8_t s[16], i;

    memcpy(s, in, 16);
    add_round_key(s, c->w);
    for (i = 1; i < ROUNDS; i++) {
        sub_bytes(s);
        shift_rows(s, 1);
        mix_columns(s);
        add_round_key(s, c->w + 4 * i);
    }
    sub_bytes(s);
    shift_rows(s, 1);
    add_round_key(s, c->w + 4 * ROUNDS);
    memcpy(out, s, 16);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint8_t s[16], i;

    memcpy(s, in, 16);
    add_round_key(s, c->w + 4 * ROUNDS);
    for (i = ROUNDS - 1; i > 0; i--) {
        shift_rows(s, 3);
        inv_sub_bytes(s);
        add_round_key(s, c->w + 4 * i);
        inv_mix_columns(s);
    }
    shift_rows(s, 3);
    inv_sub_bytes(s);
    add_round_key(s, c->w);
    memcpy(out, s, 16);
    return 0;
}
