/*
 * PRESENT (Bogdanov, Knudsen, Leander, Paar, Poschmann, Robshaw, Seurin,
 * Vikkelsoe, CHES 2007) as the paper describes it. Bytes are in the order of
 * the paper: b63 is the highest bit of the first. Time depends on data where
 * memory has a cache.
 */
#include "bytes.h"

#define ROUNDS 31

typedef struct {
    uint64_t k[ROUNDS + 1];
} context;
CONTEXT(context);

TABLE(uint8_t) sbox[16] = { 0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD,
                            3, 0xE, 0xF, 8, 4, 7, 1, 2 };
TABLE(uint8_t) inverse_sbox[16] = { 5, 0xE, 0xF, 8, 0xC, 1, 2, 0xD,
                                    0xB, 4, 6, 3, 0, 7, 9, 0xA };

#define LAYER(box, s)                                                        \
    do {                                                                     \
        uint64_t y_ = 0;                                                     \
        uint8_t i_;                                                          \
                                                                             \
        for (i_ = 0; i_ < 64; i_ = (uint8_t)(i_ + 4))                        \
            y_ |= (uint64_t)ENTRY8(box[(s) >> i_ & 15]) << i_;               \
        (s) = y_;                                                            \
    } while (0)

/* Bit i goes to 16 i mod 63, bit 63 stays. */
static uint64_t p_layer(uint64_t s)
{
    uint64_t y = 0;
    uint8_t i, to;

    for (i = 0, to = 0; i < 64; i++, to = (uint8_t)(to + 16)) {
        if (to > 63)
            to = (uint8_t)(to - 63);
        y |= (s >> i & 1) << (i == 63 ? 63 : to);
    }
    return y;
}

static uint64_t inverse_p_layer(uint64_t s)
{
    uint64_t y = 0;
    uint8_t i, from;

    for (i = 0, from = 0; i < 64; i++, from = (uint8_t)(from + 16)) {
        if (from > 63)
            from = (uint8_t)(from - 63);
        y |= (s >> (i == 63 ? 63 : from) & 1) << i;
    }
    return y;
}

/* The key register is high and, below it, low: 16 or 64 bits. */
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint64_t high = load64be(k);
#if CRYPTO_KEYBYTES == 10
    uint64_t low = LOAD16BE(k + 8);
#else
    uint64_t low = load64be(k + 8);
#endif
    uint8_t i;

    for (i = 1; i <= ROUNDS; i++) {
        uint64_t t = high;

        c->k[i - 1] = high;
#if CRYPTO_KEYBYTES == 10
        /* by 61 to the left is by 19 to the right; the counter to 19..15 */
        high = t >> 19 | low << 45 | t << 61;
        low = t >> 3 & 0xFFFF;
        high = (high & 0x0FFFFFFFFFFFFFFF) |
               (uint64_t)ENTRY8(sbox[high >> 60]) << 60;
        high ^= i >> 1;
        low ^= (uint64_t)(i & 1) << 15;
#else
        /* by 61 to the left is by 64 and 3 to the right; to 66..62 */
        high = t << 61 | low >> 3;
        low = low << 61 | t >> 3;
        high = (high & 0x00FFFFFFFFFFFFFF) |
               (uint64_t)ENTRY8(sbox[high >> 60]) << 60 |
               (uint64_t)ENTRY8(sbox[high >> 56 & 15]) << 56;
        high ^= i >> 2;
        low ^= (uint64_t)(i & 3) << 62;
#endif
    }
    c->k[ROUNDS] = high;
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
    uint64_t s = load64be(in);
    uint8_t i;

    for (i = 0; i < ROUNDS; i++) {
        s ^= c->k[i];
        LAYER(sbox, s);
        s = p_layer(s);
    }
    store64be(out, s ^ c->k[ROUNDS]);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint64_t s = load64be(in) ^ c->k[ROUNDS];
    uint8_t i;

    for (i = ROUNDS; i-- > 0;) {
        s = inverse_p_layer(s);
        LAYER(inverse_sbox, s);
        s ^= c->k[i];
    }
    store64be(out, s);
    return 0;
}
