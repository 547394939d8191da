/* For block ciphers of the first FELICS: the macros that its documentation names, which place, align and read data, and
   its four functions. The build defines AVR, MSP, ARM or PC, and SCENARIO where it is not 0. */
#ifndef STEELYARD_PHASES_CIPHER_H
#define STEELYARD_PHASES_CIPHER_H

#include <stdint.h>

#define SCENARIO_0 0
#define SCENARIO_1 1
#define SCENARIO_2 2
#ifndef SCENARIO
#define SCENARIO SCENARIO_0
#endif

#define OPTIMIZATION_LEVEL_0 __attribute__((optimize("O0")))
#define OPTIMIZATION_LEVEL_1 __attribute__((optimize("O1")))
#define OPTIMIZATION_LEVEL_2 __attribute__((optimize("O2")))
#define OPTIMIZATION_LEVEL_3 __attribute__((optimize("O3")))

#ifndef ALIGNED
#if defined(AVR) || defined(MSP)
#define ALIGNED __attribute__((aligned(2)))
#elif defined(ARM)
#define ALIGNED __attribute__((aligned(8)))
#else
#define ALIGNED __attribute__((aligned(64)))
#endif
#endif

/* Constants lie in program memory on AVR alone; everywhere else a pointer reads them. */
#ifdef AVR
#include <avr/pgmspace.h>
#define STEELYARD_IN_ROM PROGMEM
#define READ_ROM_DATA_BYTE(x) pgm_read_byte(&x)
#define READ_ROM_DATA_WORD(x) pgm_read_word(&x)
#define READ_ROM_DATA_DOUBLE_WORD(x) pgm_read_dword(&x)
#else
#define STEELYARD_IN_ROM
#define READ_ROM_DATA_BYTE(x) x
#define READ_ROM_DATA_WORD(x) x
#define READ_ROM_DATA_DOUBLE_WORD(x) x
#endif
#define READ_RAM_DATA_BYTE(x) x
#define READ_RAM_DATA_WORD(x) x
#define READ_RAM_DATA_DOUBLE_WORD(x) x

#define RAM_DATA_BYTE uint8_t ALIGNED
#define RAM_DATA_WORD uint16_t ALIGNED
#define RAM_DATA_DOUBLE_WORD uint32_t ALIGNED
#define ROM_DATA_BYTE const uint8_t STEELYARD_IN_ROM ALIGNED
#define ROM_DATA_WORD const uint16_t STEELYARD_IN_ROM ALIGNED
#define ROM_DATA_DOUBLE_WORD const uint32_t STEELYARD_IN_ROM ALIGNED

/* Round keys are in flash in scenario 2. */
#if SCENARIO == SCENARIO_2
#define READ_ROUND_KEY_BYTE(x) READ_ROM_DATA_BYTE(x)
#define READ_ROUND_KEY_WORD(x) READ_ROM_DATA_WORD(x)
#define READ_ROUND_KEY_DOUBLE_WORD(x) READ_ROM_DATA_DOUBLE_WORD(x)
#else
#define READ_ROUND_KEY_BYTE(x) READ_RAM_DATA_BYTE(x)
#define READ_ROUND_KEY_WORD(x) READ_RAM_DATA_WORD(x)
#define READ_ROUND_KEY_DOUBLE_WORD(x) READ_RAM_DATA_DOUBLE_WORD(x)
#endif

void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys);
void RunDecryptionKeySchedule(uint8_t *key, uint8_t *roundKeys);
void Encrypt(uint8_t *block, uint8_t *roundKeys);
void Decrypt(uint8_t *block, uint8_t *roundKeys);

#endif
