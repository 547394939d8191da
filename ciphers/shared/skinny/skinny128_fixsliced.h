/*
 * SKINNY-128-384 and SKINNY-128-384+ for machines with registers of 32 bits,
 * with the tweakeys of all rounds computed beforehand, but for half of TK1.
 *
 * "params.h" fixes SKINNY_TK, 3, and SKINNY_ROUNDS, a multiple of eight.
 */
#ifndef SKINNY128_FIXSLICED_H
#define SKINNY128_FIXSLICED_H

#include <stdint.h>

#include "params.h"

#define SKINNY_SCHEDULE (2 * SKINNY_ROUNDS)

/* The schedule of TK2, TK3 and of bytes 8 to 15 of TK1, or none if they are
 * zero. */
void skinny128_schedule(uint32_t *schedule, const uint8_t *tk1,
                        const uint8_t *tk2, const uint8_t *tk3);

/* The block of 16 bytes, encrypted; tk1 is bytes 0 to 7 of TK1. */
void skinny128_encrypt_scheduled(uint8_t *block, const uint8_t *tk1,
                                 const uint32_t *schedule);

#endif
