/* The modes of FELICS's scenarios, compiled beside the package with the flags under test: CBC over 128 bytes in scenario
 * 1, CTR over 16 in scenario 2, whose round keys are in flash. No header of the package is read here: its code would be
 * the mode's. */
#include <stdint.h>

#define BLOCK SY_BLOCK

#ifdef SY_PHASES /* FELICS's functions: in place, round keys that are not const */
extern void crypto_block_encrypt(uint8_t *block, uint8_t *round_keys);
extern void crypto_block_decrypt(uint8_t *block, uint8_t *round_keys);
#define ENCRYPT(block, keys) crypto_block_encrypt(block, keys)
#define DECRYPT(block, keys) crypto_block_decrypt(block, keys)
#else
#include "crypto_block.h"
#define ENCRYPT(block, keys) crypto_block_encrypt(block, block, keys)
#define DECRYPT(block, keys) crypto_block_decrypt(block, block, keys)
#endif

void sy_mode_encrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv);

static void add(uint8_t *to, const uint8_t *from)
{
    uint8_t i;
    for (i = 0; i < BLOCK; i++)
        to[i] ^= from[i];
}

static void copy(uint8_t *to, const uint8_t *from)
{
    uint8_t i;
    for (i = 0; i < BLOCK; i++)
        to[i] = from[i];
}

#if SY_SCENARIO == 1
enum { DATA = 128 };

void sy_mode_decrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv);

void sy_mode_encrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv)
{
    uint8_t at;
    for (at = 0; at < DATA; at += BLOCK) {
        add(data + at, at ? data + at - BLOCK : iv);
        ENCRYPT(data + at, round_keys);
    }
}

/* Each block is needed once more after its decryption: for the next. */
void sy_mode_decrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv)
{
    uint8_t last[BLOCK], this[BLOCK];
    uint8_t at;
    copy(last, iv);
    for (at = 0; at < DATA; at += BLOCK) {
        copy(this, data + at);
        DECRYPT(data + at, round_keys);
        add(data + at, last);
        copy(last, this);
    }
}
#else
enum { DATA = 16 };

#ifdef __AVR__
#include <avr/pgmspace.h>
#define FLASH PROGMEM
#else
#define FLASH
#endif

static const uint8_t keys[] FLASH __attribute__((aligned(8))) = {
#include "steelyard_round_keys.inc"
};

/* The counter's last byte counts. */
void sy_mode_encrypt(uint8_t *data, uint8_t *round_keys, uint8_t *iv)
{
    uint8_t stream[BLOCK] __attribute__((aligned(8)));
    uint8_t at;
    (void)round_keys;
    for (at = 0; at < DATA; at += BLOCK) {
        copy(stream, iv);
        ENCRYPT(stream, (uint8_t *)keys);
        add(data + at, stream);
        iv[BLOCK - 1]++;
    }
}
#endif
