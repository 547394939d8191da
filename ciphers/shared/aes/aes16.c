/*
 * Steps of AES on words of 8 or 16 bits.
 */
#include "aes.h"

#if AES_BITS != 32

#include "sbox.h"

/* The low and the high byte of slice i: rows 0 and 2, rows 1 and 3. */
#if AES_BITS == 8
#define LOW(s, i) ((s)->x[i])
#define HIGH(s, i) ((s)->x[8 + (i)])
#define SET(s, i, low, high) ((s)->x[i] = (low), (s)->x[8 + (i)] = (high))
#else
#define LOW(s, i) ((uint8_t)(s)->x[i])
#define HIGH(s, i) ((uint8_t)((s)->x[i] >> 8))
#define SET(s, i, low, high)                                                 \
    ((s)->x[i] = (uint16_t)((low) | (uint16_t)((uint16_t)(high) << 8)))
#endif

/* Exchanges the nibbles of every byte: rotates rows by two. */
static inline aes_word swap(aes_word x)
{
    return (aes_word)((x >> 4 & (aes_word)0x0F0F) |
                      (aes_word)((x & (aes_word)0x0F0F) << 4));
}

void aes_load(aes_block *s, const uint8_t *x)
{
    uint8_t i;

    for (i = 0; i < 4; i++) {
        SET(s, i, x[4 * i], x[4 * i + 1]);
        SET(s, 4 + i, x[4 * i + 2], x[4 * i + 3]);
    }
    transpose(s->x);
#if AES_BITS == 8
    transpose(s->x + 8);
#endif
}

void aes_load_key(aes_block *s, const uint8_t *k)
{
    aes_load(s, k);
}

void aes_store(uint8_t *x, const aes_block *s)
{
    aes_block t = *s;
    uint8_t i;

    transpose(t.x);
#if AES_BITS == 8
    transpose(t.x + 8);
#endif
    for (i = 0; i < 4; i++) {
        x[4 * i] = LOW(&t, i);
        x[4 * i + 1] = HIGH(&t, i);
        x[4 * i + 2] = LOW(&t, 4 + i);
        x[4 * i + 3] = HIGH(&t, 4 + i);
    }
}

void aes_sub_bytes(aes_block *s)
{
    sbox(s->x);
#if AES_BITS == 8
    sbox(s->x + 8);
#endif
}

void aes_sub_word(aes_block *t, const aes_block *k)
{
    aes_word x[8];
    uint8_t i;

#if AES_BITS == 8
    /* rows 0 and 2 from column 3, rows 1 and 3 from column 2 */
    for (i = 0; i < 8; i++)
        x[i] = (uint8_t)((LOW(k, i) & 0x88) | (HIGH(k, i) >> 1 & 0x44));
    sbox(x);
    for (i = 0; i < 8; i++) {
        uint8_t low = x[i] >> 3 & 0x11, high = x[i] >> 2 & 0x11;

        SET(t, i, (uint8_t)((low << 4) - low),
            (uint8_t)((high << 4) - high));
    }
#else
    for (i = 0; i < 8; i++)
        x[i] = k->x[i];
    sbox(x);
    for (i = 0; i < 8; i++) {
        uint16_t y = x[i] >> 3 & 0x1111;

        t->x[i] = (uint16_t)((uint16_t)(y << 4) - y);
    }
#endif
}

void aes_sub_both(aes_block *s, aes_block *t, const aes_block *k)
{
    aes_sub_bytes(s);
    aes_sub_word(t, k);
}

#if AES_BITS == 8

void aes_rotate_rows(aes_block *t)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint8_t low = LOW(t, i), high = HIGH(t, i);

        SET(t, i, high, swap(low));
    }
}

/* Row 2 or 3, the high nibble, by two columns. */
static uint8_t shift_two(uint8_t x)
{
    uint8_t t = (uint8_t)(x >> 2 ^ x) & 0x30;

    return (uint8_t)(x ^ t ^ (uint8_t)(t << 2));
}

/* Rows 1 and 3 by one column. */
static uint8_t shift_one(uint8_t x)
{
    return (uint8_t)((x >> 1 & 0x77) | (uint8_t)((x & 0x11) << 3));
}

void aes_shift_rows(aes_block *s)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint8_t low = LOW(s, i), high = HIGH(s, i);

        SET(s, i, shift_two(low), shift_two(shift_one(high)));
    }
}

/* Row r becomes 2 (row r + row r + 1) + row r + 1 + row r + 2 + row r + 3. */
void aes_mix_columns(aes_block *s)
{
    uint8_t low = LOW(s, 7), high = HIGH(s, 7);
    uint8_t top_low = low ^ high, top_high = high ^ swap(low);
    uint8_t before_low = top_low, before_high = top_high, i;

    for (i = 0; i < 8; i++) {
        uint8_t sum_low, sum_high;

        low = LOW(s, i);
        high = HIGH(s, i);
        sum_low = low ^ high;
        low = swap(low);
        sum_high = high ^ low;
        high ^= before_low ^ swap(sum_low);
        low ^= before_high ^ swap(sum_high);
        if (i == 1 || i == 3 || i == 4) {
            high ^= top_low;
            low ^= top_high;
        }
        SET(s, i, high, low);
        before_low = sum_low;
        before_high = sum_high;
    }
}

#else

/* Rows rotated by one; swapped is swap(x).  Compilers for the MSP430 shift by
 * eight in eight steps, but know its instruction to exchange bytes. */
static inline uint16_t rotate(uint16_t x, uint16_t swapped)
{
#if defined(__MSP430__)
    return (__builtin_bswap16(x) & 0x00FF) |
           (__builtin_bswap16(swapped) & 0xFF00);
#else
    return (uint16_t)(x >> 8 | (uint16_t)(swapped << 8));
#endif
}

void aes_rotate_rows(aes_block *t)
{
    uint8_t i;

    for (i = 0; i < 8; i++)
        t->x[i] = rotate(t->x[i], swap(t->x[i]));
}

void aes_shift_rows(aes_block *s)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint16_t x = s->x[i], t;

        /* rows 1 and 3 by one column, then rows 2 and 3 by two */
        x = (uint16_t)((x & 0x00FF) | (x >> 1 & 0x7700) |
                       (uint16_t)((x & 0x1100) << 3));
        t = (uint16_t)(x >> 2 ^ x) & 0x3030;
        s->x[i] = (uint16_t)(x ^ t ^ (uint16_t)(t << 2));
    }
}

/* Row r becomes 2 (row r + row r + 1) + row r + 1 + row r + 2 + row r + 3. */
void aes_mix_columns(aes_block *s)
{
    uint16_t x = s->x[7];
    uint16_t top = x ^ rotate(x, swap(x)), before = top;
    uint8_t i;

    for (i = 0; i < 8; i++) {
        uint16_t two, next, sum;

        x = s->x[i];
        two = swap(x);
        next = rotate(x, two);
        sum = x ^ next;
        next ^= before ^ two ^ rotate(two, x);
        if (i == 1 || i == 3 || i == 4)
            next ^= top;
        s->x[i] = next;
        before = sum;
    }
}

#endif

#endif
