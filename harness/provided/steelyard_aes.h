/* AES (FIPS 197) for keys of 16, 24 and 32 bytes, both directions, on the bundled ciphers' bit-sliced steps: constant
 * time, no tables, no static data. Everything is static, each file that includes this is one object. */
#ifndef STEELYARD_AES_H
#define STEELYARD_AES_H

#include <string.h>

#include "aes.c"
#include "aes16.c"
#include "aes32.c"

#include "openssl/aes.h"

/* Round key i of a schedule: 16 bytes whatever the size of words. With words of 32 bits, where both nibbles of a byte
 * are the same, two slices share a word. */
static void put_round_key(AES_KEY *key, uint8_t i, const aes_block *k)
{
#if AES_BITS == 32
    uint8_t j;
    for (j = 0; j < 4; j++)
        key->rd_key[4 * i + j] = (k->x[j] & 0x0F0F0F0F) | (k->x[4 + j] & 0xF0F0F0F0);
#else
    memcpy(&key->rd_key[4 * i], k->x, 16);
#endif
}

static void add_round_key(aes_block *s, const AES_KEY *key, uint8_t i)
{
#if AES_BITS == 32
    uint8_t j;
    for (j = 0; j < 4; j++) {
        uint32_t w = (uint32_t)key->rd_key[4 * i + j], low = w & 0x0F0F0F0F, high = w & 0xF0F0F0F0;
        s->x[j] ^= low | low << 4;
        s->x[4 + j] ^= high | high >> 4;
    }
#else
    aes_block k;
    memcpy(k.x, &key->rd_key[4 * i], 16);
    aes_add(s, &k);
#endif
}

/* KeyExpansion for keys of 16 or 32 bytes: the words of round key i come from those of round key i - 1 or i - 2. */
static inline void expand(AES_KEY *key, const uint8_t *k, uint8_t bytes)
{
    aes_block round[2];
    uint8_t rcon = 0x01, i, both = bytes == 32;

    aes_load_key(&round[0], k);
    put_round_key(key, 0, &round[0]);
    if (both) {
        aes_load_key(&round[1], k + 16);
        put_round_key(key, 1, &round[1]);
    }
    for (i = 1 + both; i <= key->rounds; i++) {
        aes_block *now = &round[both & i], *before = &round[both & ~i];
        uint8_t plain = both & i;
        next_words(now, before, plain ? 0 : rcon);
        put_round_key(key, i, now);
        if (!plain)
            rcon = next_rcon(rcon);
    }
}

/* The same for 24 bytes, of which aes.c has the whole. */
static inline void expand_24(AES_KEY *key, const uint8_t *k)
{
    aes_key all;
    uint8_t i;

    aes_set_key(&all, k);
    for (i = 0; i <= AES_ROUNDS; i++)
        put_round_key(key, i, &all.round[i]);
}

static void cipher_with(uint8_t *out, const uint8_t *in, const AES_KEY *key)
{
    aes_block s;
    uint8_t i;

    aes_load(&s, in);
    add_round_key(&s, key, 0);
    for (i = 1; i < key->rounds; i++) {
        aes_round(&s);
        add_round_key(&s, key, i);
    }
    aes_sub_bytes(&s);
    aes_shift_rows(&s);
    add_round_key(&s, key, i);
    aes_store(out, &s);
}

/* FIPS 197, 5.3.2: the affine map of the S-box backwards. The S-box is this map's inverse after the field's inversion,
 * so that the inverse S-box is the S-box between two of these. */
static void inverse_affine(aes_block *s)
{
    uint8_t i, j;

    for (j = 0; j < AES_WORDS; j = (uint8_t)(j + 8)) {
        aes_word t[8];
        for (i = 0; i < 8; i++)
            t[i] = s->x[j + i];
        for (i = 0; i < 8; i++)
            s->x[j + i] = t[(i + 2) & 7] ^ t[(i + 5) & 7] ^ t[(i + 7) & 7];
        s->x[j] = (aes_word)~s->x[j];
        s->x[j + 2] = (aes_word)~s->x[j + 2];
    }
}

static void inverse_sub_bytes(aes_block *s)
{
    inverse_affine(s);
    aes_sub_bytes(s);
    inverse_affine(s);
}

/* Rows 2 and 3 by two columns, as in ShiftRows; rows 1 and 3 by one, to the other side. */
static void inverse_shift_rows(aes_block *s)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
#if AES_BITS == 8
        uint8_t x = HIGH(s, i);
        x = (uint8_t)((uint8_t)(x << 1 & 0xEE) | (x >> 3 & 0x11));
        SET(s, i, shift_two(LOW(s, i)), shift_two(x));
#elif AES_BITS == 16
        uint16_t x = s->x[i], t;
        x = (uint16_t)((x & 0x00FF) | (uint16_t)(x << 1 & 0xEE00) | (x >> 3 & 0x1100));
        t = (uint16_t)(x >> 2 ^ x) & 0x3030;
        s->x[i] = (uint16_t)(x ^ t ^ (uint16_t)(t << 2));
#else
        uint32_t x = s->x[i], t = (x >> 2 ^ x) & 0x33330000;
        x ^= t ^ t << 2;
        s->x[i] = (x & 0x00FF00FF) | (x << 1 & 0xEE00EE00) | (x >> 3 & 0x11001100);
#endif
    }
}

/* {0b}x^3 + {0d}x^2 + {09}x + {0e} (FIPS 197, 5.3.3) is MixColumns' polynomial times {04}x^2 + {05}: a byte and four
 * times its sum with the one two rows further, then MixColumns. */
static void inverse_mix_columns(aes_block *s)
{
    uint8_t i, j;

    for (j = 0; j < AES_WORDS; j = (uint8_t)(j + 8)) {
        aes_word *x = s->x + j, t[8];
        for (i = 0; i < 8; i++)
#if AES_BITS == 32
            t[i] = x[i] ^ ROTR(x[i], 16);
#else
            t[i] = x[i] ^ swap(x[i]);
#endif
        x[0] ^= t[6];
        x[1] ^= t[6] ^ t[7];
        x[2] ^= t[0] ^ t[7];
        x[3] ^= t[1] ^ t[6];
        x[4] ^= t[2] ^ t[6] ^ t[7];
        x[5] ^= t[3] ^ t[7];
        x[6] ^= t[4];
        x[7] ^= t[5];
    }
    aes_mix_columns(s);
}

static void inverse_cipher_with(uint8_t *out, const uint8_t *in, const AES_KEY *key)
{
    aes_block s;
    uint8_t i = (uint8_t)key->rounds;

    aes_load(&s, in);
    add_round_key(&s, key, i);
    for (;;) {
        inverse_shift_rows(&s);
        inverse_sub_bytes(&s);
        add_round_key(&s, key, --i);
        if (i == 0)
            break;
        inverse_mix_columns(&s);
    }
    aes_store(out, &s);
}

#endif
