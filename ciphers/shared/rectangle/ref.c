/*
 * RECTANGLE as the paper describes it, column by column. Time depends on data
 * where memory has a cache.
 */
#include "bytes.h"
#include "rows.h"

static const uint8_t box[16] = { 6, 5, 0xC, 0xA, 1, 0xE, 7, 9,
                                 0xB, 0, 3, 0xD, 8, 0xF, 4, 2 };
static const uint8_t inverse_box[16] = { 9, 4, 0xF, 0xA, 0xE, 1, 0, 6,
                                         0xC, 7, 3, 8, 2, 0xB, 5, 0xD };

/* The S-box on the lowest n columns; row 0 has the lowest bit. */
#define SUB(type, box, row, n)                                               \
    do {                                                                     \
        uint8_t j_, b_;                                                      \
                                                                             \
        for (j_ = 0; j_ < (n); j_++) {                                       \
            uint8_t y_ = 0;                                                  \
                                                                             \
            for (b_ = 0; b_ < 4; b_++)                                       \
                y_ |= (uint8_t)(((row)[b_] >> j_ & 1) << b_);                \
            y_ = (box)[y_];                                                  \
            for (b_ = 0; b_ < 4; b_++) {                                     \
                (row)[b_] &= (type)~((type)1 << j_);                         \
                (row)[b_] |= (type)((type)(y_ >> b_ & 1) << j_);             \
            }                                                                \
        }                                                                    \
    } while (0)

static void sub_key(key_row *v)
{
    SUB(key_row, box, v, KEY_COLUMNS == 0xF ? 4 : 8);
}

static void add(uint16_t *row, const uint16_t *k)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        row[i] ^= k[i];
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint16_t row[4];
    uint8_t i;

    for (i = 0; i < 4; i++)
        row[i] = LOAD16LE(in + 2 * i);
    for (i = 0; i < ROUNDS; i++) {
        add(row, c->k[i]);
        SUB(uint16_t, box, row, 16);
        row[1] = rol16(row[1], 1);
        row[2] = rol16(row[2], 12);
        row[3] = rol16(row[3], 13);
    }
    add(row, c->k[ROUNDS]);
    for (i = 0; i < 4; i++)
        STORE16LE(out + 2 * i, row[i]);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint16_t row[4];
    uint8_t i;

    for (i = 0; i < 4; i++)
        row[i] = LOAD16LE(in + 2 * i);
    add(row, c->k[ROUNDS]);
    for (i = ROUNDS; i-- > 0;) {
        row[1] = rol16(row[1], 15);
        row[2] = rol16(row[2], 4);
        row[3] = rol16(row[3], 3);
        SUB(uint16_t, inverse_box, row, 16);
        add(row, c->k[i]);
    }
    for (i = 0; i < 4; i++)
        STORE16LE(out + 2 * i, row[i]);
    return 0;
}
