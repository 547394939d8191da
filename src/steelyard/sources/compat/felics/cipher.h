/* For FELICS-AE packages: the documented macros that place constants and align data.
   Constants lie in program memory on AVR alone; everywhere else a pointer reads them. */
#ifndef STEELYARD_FELICS_CIPHER_H
#define STEELYARD_FELICS_CIPHER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define AVR
#define ALIGNED
#define STEELYARD_IN_ROM PROGMEM
#define READ_ROM_DATA_BYTE(x) pgm_read_byte(&(x))
#define READ_ROM_DATA_WORD(x) pgm_read_word(&(x))
#define READ_ROM_DATA_DOUBLE_WORD(x) pgm_read_dword(&(x))
#define ROM_memcpy(to, from, n) memcpy_P((to), (from), (n))
#else
#if defined(__MSP430__)
#define MSP
#define ALIGNED __attribute__((aligned(2)))
#else
#define ALIGNED __attribute__((aligned(8)))
#endif
#define STEELYARD_IN_ROM
#define READ_ROM_DATA_BYTE(x) (x)
#define READ_ROM_DATA_WORD(x) (x)
#define READ_ROM_DATA_DOUBLE_WORD(x) (x)
#define ROM_memcpy(to, from, n) memcpy((to), (from), (n))
#endif

#define RAM_DATA_BYTE uint8_t ALIGNED
#define RAM_DATA_WORD uint16_t ALIGNED
#define RAM_DATA_DOUBLE_WORD uint32_t ALIGNED
#define ROM_DATA_BYTE const uint8_t ALIGNED STEELYARD_IN_ROM
#define ROM_DATA_WORD const uint16_t ALIGNED STEELYARD_IN_ROM
#define ROM_DATA_DOUBLE_WORD const uint32_t ALIGNED STEELYARD_IN_ROM

#endif
