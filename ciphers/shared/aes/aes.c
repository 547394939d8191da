/*
 * AES: key schedule and encryption, for all sizes of words.
 */
#include "aes.h"

/* The columns of a mask, in all rows. */
#define COLUMNS(mask) ((aes_word)(0x11111111u * (mask)))

void aes_add(aes_block *s, const aes_block *k)
{
    uint8_t i;

    for (i = 0; i < AES_WORDS; i++)
        s->x[i] ^= k->x[i];
}

void aes_round(aes_block *s)
{
    aes_sub_bytes(s);
    aes_shift_rows(s);
    aes_mix_columns(s);
}

/* rcon to row 0, in all columns. */
static void add_rcon(aes_block *t, uint8_t rcon)
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        if (rcon & 1)
            t->x[i] ^= AES_BITS == 32 ? 0xFF : 0x0F;
        rcon >>= 1;
    }
}

static uint8_t next_rcon(uint8_t rcon)
{
    return (uint8_t)(rcon << 1 ^ (rcon & 0x80 ? 0x1B : 0));
}

/* w[i] = w[i - Nk] + w[i - 1] for four columns; t is the word before the
 * first, in all columns. */
static void add_columns(aes_block *k, const aes_block *t)
{
    uint8_t i;

    for (i = 0; i < AES_WORDS; i++) {
        aes_word x = k->x[i];

        x ^= (aes_word)(x << 1 & COLUMNS(0xE));
        x ^= (aes_word)(x << 2 & COLUMNS(0xC));
        k->x[i] = x ^ t->x[i];
    }
}

/* Four words of the key schedule, k, from those Nk words before, also k, and
 * the last of those before. */
static void next_words(aes_block *k, const aes_block *before, uint8_t rcon)
{
    aes_block t;

    aes_sub_word(&t, before);
    if (rcon != 0) {
        aes_rotate_rows(&t);
        add_rcon(&t, rcon);
    }
    add_columns(k, &t);
}

uint8_t aes_sub_bytes_next_key(aes_block *s, aes_block *k, uint8_t rcon)
{
    aes_block t;

    aes_sub_both(s, &t, k);
    aes_rotate_rows(&t);
    add_rcon(&t, rcon);
    add_columns(k, &t);
    return next_rcon(rcon);
}

uint8_t aes_next_key(aes_block *k, uint8_t rcon)
{
    next_words(k, k, rcon);
    return next_rcon(rcon);
}

#if AES_KEYBYTES == 16

void aes_set_key(aes_key *key, const uint8_t *k)
{
    uint8_t rcon = 0x01, i;

    aes_load_key(&key->round[0], k);
    for (i = 1; i <= AES_ROUNDS; i++) {
        key->round[i] = key->round[i - 1];
        next_words(&key->round[i], &key->round[i - 1], rcon);
        rcon = next_rcon(rcon);
    }
}

#elif AES_KEYBYTES == 32

/* The round keys are, alternately, the two halves of eight words. */
void aes_set_key(aes_key *key, const uint8_t *k)
{
    uint8_t rcon = 0x01, i;

    aes_load_key(&key->round[0], k);
    aes_load_key(&key->round[1], k + 16);
    for (i = 2; i <= AES_ROUNDS; i++) {
        key->round[i] = key->round[i - 2];
        if ((i & 1) == 0) {
            next_words(&key->round[i], &key->round[i - 1], rcon);
            rcon = next_rcon(rcon);
        } else {
            next_words(&key->round[i], &key->round[i - 1], 0);
        }
    }
}

#else

/* The six words of a step: a, four of them, and columns 2 and 3 of b. */
static void next_six(aes_block *a, aes_block *b, uint8_t rcon)
{
    uint8_t i;

    next_words(a, b, rcon);
    for (i = 0; i < AES_WORDS; i++) {
        aes_word x = (aes_word)(a->x[i] >> 1 & COLUMNS(4));

        x ^= b->x[i];
        b->x[i] = (aes_word)(x ^ (x << 1 & COLUMNS(8)));
    }
}

/* Columns 2 and 3 of a become 0 and 1; columns first and first + 1 of b
 * become 2 and 3. */
static void join(aes_block *k, const aes_block *a, const aes_block *b,
                 uint8_t first)
{
    uint8_t i;

    for (i = 0; i < AES_WORDS; i++)
        k->x[i] = (aes_word)((a->x[i] >> 2 & COLUMNS(3)) |
                             (b->x[i] << (2 - first) & COLUMNS(0xC)));
}

/* Twice six words are three round keys. */
void aes_set_key(aes_key *key, const uint8_t *k)
{
    aes_block a, b;
    uint8_t rcon = 0x01, i;

    aes_load_key(&a, k);
    aes_load_key(&b, k + 8);
    for (i = 0; i < AES_WORDS; i++)
        b.x[i] &= COLUMNS(0xC);
    for (i = 0;; i = (uint8_t)(i + 3)) {
        aes_block last;

        key->round[i] = a;
        if (i == AES_ROUNDS)
            return;
        last = b;
        next_six(&a, &b, rcon);
        rcon = next_rcon(rcon);
        join(&key->round[i + 1], &last, &a, 0);
        join(&key->round[i + 2], &a, &b, 2);
        next_six(&a, &b, rcon);
        rcon = next_rcon(rcon);
    }
}

#endif

static void cipher(const aes_key *key, aes_block *s)
{
    uint8_t i;

    aes_add(s, &key->round[0]);
    for (i = 1; i < AES_ROUNDS; i++) {
        aes_round(s);
        aes_add(s, &key->round[i]);
    }
    aes_sub_bytes(s);
    aes_shift_rows(s);
    aes_add(s, &key->round[AES_ROUNDS]);
}

void aes_encrypt(const aes_key *key, uint8_t *x)
{
    aes_block s;

    aes_load(&s, x);
    cipher(key, &s);
    aes_store(x, &s);
}

#if AES_PARALLEL == 2

void aes_encrypt_blocks(const aes_key *key, uint8_t *x)
{
    aes_block s;

    aes_load_pair(&s, x);
    cipher(key, &s);
    aes_store_pair(x, &s);
}

#endif
