/*
 * RECTANGLE (Zhang, Bao, Lin, Rijmen, Yang, Verbauwhede, ePrint 2014/084):
 * sizes and the key schedule. Row 0 comes first, in every row the least
 * significant byte. sub_key is the
 * S-box on the columns of the key that take it: KEY_COLUMNS.
 */
#define ROUNDS 25

typedef struct {
    uint16_t k[ROUNDS + 1][4];
} context;
CONTEXT(context);

static inline uint16_t rol16(uint16_t x, uint8_t n)
{
    return (uint16_t)((uint16_t)(x << n) | x >> (16 - n));
}

#if CRYPTO_KEYBYTES == 10
#define KEY_ROWS 5
typedef uint16_t key_row;
#define LOAD_ROW(p) LOAD16LE(p)
#define KEY_COLUMNS 0xF
#else
#define KEY_ROWS 4
typedef uint32_t key_row;
#define LOAD_ROW(p) load32le(p)
#define KEY_COLUMNS 0xFF
#endif

static void sub_key(key_row *v);

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    key_row v[KEY_ROWS];
    uint8_t rc = 1, i, j;

    for (i = 0; i < KEY_ROWS; i++)
        v[i] = LOAD_ROW(k + i * sizeof(key_row));
    for (i = 0;; i++) {
        key_row first;

        for (j = 0; j < 4; j++)
            c->k[i][j] = (uint16_t)v[j];
        if (i == ROUNDS)
            return 0;
        sub_key(v);
        first = v[0];
#if CRYPTO_KEYBYTES == 10
        v[0] = rol16(v[0], 8) ^ v[1];
        v[1] = v[2];
        v[2] = v[3];
        v[3] = rol16(v[3], 12) ^ v[4];
        v[4] = first;
#else
        v[0] = (v[0] << 8 | v[0] >> 24) ^ v[1];
        v[1] = v[2];
        v[2] = (v[2] << 16 | v[2] >> 16) ^ v[3];
        v[3] = first;
#endif
        v[0] ^= rc;
        rc = (uint8_t)((rc << 1 & 0x1E) | ((rc >> 4 ^ rc >> 2) & 1));
    }
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}
