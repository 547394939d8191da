/*
 * AES (FIPS 197), encryption only, in constant time: bit-sliced, with the
 * S-box as a Boolean circuit, without tables.
 *
 * A block is kept in eight slices; slice i holds bit i of all 16 bytes.  In
 * every slice the four columns of a row are four neighbouring bits, column 0
 * the lowest, and the four rows lie as follows:
 *
 *   32-bit words   row r in the low nibble of byte r; the high nibbles are
 *                  those of a second block
 *   16-bit words   rows 0, 2, 1, 3 in nibbles 0 to 3
 *   8-bit words    as 16-bit words, the low bytes of all slices first
 *
 * AES_BITS chooses the form; without it, 8 on AVR, else 16 or 32 according
 * to the size of a pointer.
 */
#ifndef AES_H
#define AES_H

#include <stdint.h>

#include "api.h"

#define AES_KEYBYTES CRYPTO_KEYBYTES
#define AES_ROUNDS (6 + AES_KEYBYTES / 4)

#ifndef AES_BITS
#if defined(__AVR__)
#define AES_BITS 8
#elif UINTPTR_MAX <= 0xFFFFF /* MSP430's is 16 or 20 bits */
#define AES_BITS 16
#else
#define AES_BITS 32
#endif
#endif

#if AES_BITS == 8
typedef uint8_t aes_word;
#elif AES_BITS == 16
typedef uint16_t aes_word;
#else
typedef uint32_t aes_word;
#endif

#define AES_WORDS (AES_BITS == 8 ? 16 : 8)

/* A state or a round key. */
typedef struct {
    aes_word x[AES_WORDS];
} aes_block;

typedef struct {
    aes_block round[AES_ROUNDS + 1];
} aes_key;

/* KeyExpansion */
void aes_set_key(aes_key *key, const uint8_t *k);

/* x = Cipher(x), 16 bytes */
void aes_encrypt(const aes_key *key, uint8_t *x);

/* AES_PARALLEL blocks, one after another in x, in the time of one. */
#if AES_BITS == 32
#define AES_PARALLEL 2
void aes_encrypt_blocks(const aes_key *key, uint8_t *x);
#else
#define AES_PARALLEL 1
#define aes_encrypt_blocks aes_encrypt
#endif

/*
 * The steps of a round, for designs that change rounds or key schedule.
 */
void aes_load(aes_block *s, const uint8_t *x); /* 16 bytes to slices */
void aes_store(uint8_t *x, const aes_block *s);
void aes_add(aes_block *s, const aes_block *k); /* AddRoundKey */
void aes_sub_bytes(aes_block *s);
void aes_shift_rows(aes_block *s);
void aes_mix_columns(aes_block *s);

/* SubBytes, ShiftRows, MixColumns */
void aes_round(aes_block *s);

/*
 * Keys that serve once (AES-128): s = SubBytes(s) and k = the round key after
 * k, whose constant is rcon = 0x01, 0x02, 0x04, ...; the next constant is
 * returned.  In one step, since with 32-bit words one evaluation of the S-box
 * does both.
 */
uint8_t aes_sub_bytes_next_key(aes_block *s, aes_block *k, uint8_t rcon);

/* Only the key. */
uint8_t aes_next_key(aes_block *k, uint8_t rcon);

/*
 * For aes.c only.  aes_sub_word: the bytes of column 3 of k, substituted, in
 * all columns of t.  aes_sub_both: also s = SubBytes(s).
 */
void aes_load_pair(aes_block *s, const uint8_t *x);
void aes_store_pair(uint8_t *x, const aes_block *s);
void aes_load_key(aes_block *s, const uint8_t *k);
void aes_sub_word(aes_block *t, const aes_block *k);
void aes_sub_both(aes_block *s, aes_block *t, const aes_block *k);

/* Row r + 1 comes to row r, cyclically (RotWord). */
void aes_rotate_rows(aes_block *t);

#endif
