/* ATSAM3X8E on an Arduino Due: the trigger is PB27, pin 13. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 84000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_PIOB_SODR SY_REG(0x400E1030u)
#define SY_PIOB_CODR SY_REG(0x400E1034u)
#define SY_TRIGGER_SET SY_PIOB_SODR = 1u << 27
#define SY_TRIGGER_CLEAR SY_PIOB_CODR = 1u << 27
#define SY_TRIGGER_READ() (SY_REG(0x400E1038u) & 1u << 27)
#include "core/port.h"
#include "core/dwt.h"

#endif
