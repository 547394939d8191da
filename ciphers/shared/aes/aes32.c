/*
 * Steps of AES on 32-bit words.
 */
#include "aes.h"

#if AES_BITS == 32

#include "sbox.h"

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static void store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

/* The words before transposition are the columns of both blocks. */
static void load(aes_block *s, const uint8_t *x, const uint8_t *y)
{
    uint8_t i;

    for (i = 0; i < 4; i++) {
        s->x[i] = load32(x + 4 * i);
        s->x[4 + i] = load32(y + 4 * i);
    }
    transpose(s->x);
}

void aes_load(aes_block *s, const uint8_t *x)
{
    load(s, x, x);
}

void aes_load_key(aes_block *s, const uint8_t *k)
{
    load(s, k, k);
}

void aes_load_pair(aes_block *s, const uint8_t *x)
{
    load(s, x, x + 16);
}

static void store(uint8_t *x, const aes_block *s, uint8_t columns)
{
    aes_block t = *s;
    uint8_t i;

    transpose(t.x);
    for (i = 0; i < columns; i++)
        store32(x + 4 * i, t.x[i]);
}

void aes_store(uint8_t *x, const aes_block *s)
{
    store(x, s, 4);
}

void aes_store_pair(uint8_t *x, const aes_block *s)
{
    store(x, s, 8);
}

void aes_sub_bytes(aes_block *s)
{
    sbox(s->x);
}

void aes_sub_word(aes_block *t, const aes_block *k)
{
    uint8_t i;

    *t = *k;
    sbox(t->x);
    for (i = 0; i < 8; i++) {
        uint32_t x = t->x[i] >> 3 & 0x11111111;

        t->x[i] = (x << 4) - x;
    }
}

/* The key takes the place of the second block. */
void aes_sub_both(aes_block *s, aes_block *t, const aes_block *k)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        s->x[i] ^= (s->x[i] ^ k->x[i]) & 0xF0F0F0F0;
    sbox(s->x);
    for (i = 0; i < 8; i++) {
        uint32_t x = s->x[i] >> 7 & 0x01010101;

        t->x[i] = (x << 8) - x;
    }
}

void aes_rotate_rows(aes_block *t)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        t->x[i] = ROTR(t->x[i], 8);
}

void aes_shift_rows(aes_block *s)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint32_t x = s->x[i];

        /* rows 2 and 3 by two columns, then rows 1 and 3 by one */
        uint32_t t = (x >> 2 ^ x) & 0x33330000;

        x ^= t ^ t << 2;
        s->x[i] = (x & 0x00FF00FF) | (x >> 1 & 0x77007700) |
                  (x << 3 & 0x88008800);
    }
}

/* Row r becomes 2 (row r + row r + 1) + row r + 1 + row r + 2 + row r + 3. */
void aes_mix_columns(aes_block *s)
{
    uint32_t x = s->x[7], next = ROTR(x, 8);
    uint32_t top = x ^ next, before = top;
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint32_t sum, reduced = i == 1 || i == 3 || i == 4 ? top : 0;

        x = s->x[i];
        next = ROTR(x, 8);
        sum = x ^ next;
        s->x[i] = next ^ ROTR(sum, 16) ^ before ^ reduced;
        before = sum;
    }
}

#endif
