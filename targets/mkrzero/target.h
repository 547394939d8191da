/* ATSAMD21G18A on an Arduino MKR Zero: the trigger is PA20, pin 6. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 48000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_PORTA_OUTCLR SY_REG(0x41004414u)
#define SY_PORTA_OUTSET SY_REG(0x41004418u)
#define SY_TRIGGER_SET SY_PORTA_OUTSET = 1u << 20
#define SY_TRIGGER_CLEAR SY_PORTA_OUTCLR = 1u << 20
#define SY_TRIGGER_READ() (SY_REG(0x41004410u) & 1u << 20)
void sy_settle(void);
#define SY_SETTLE() sy_settle()
#include "core/port.h"
#include "core/systick.h"

#endif
