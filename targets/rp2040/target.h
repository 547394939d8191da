/* RP2040 on a Raspberry Pi Pico: the trigger is GP2, pin 4. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 125000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_SIO(offset) SY_REG(0xD0000000u + (offset))
#define SY_TRIGGER_SET SY_SIO(0x14) = 1u << 2
#define SY_TRIGGER_CLEAR SY_SIO(0x18) = 1u << 2
#define SY_TRIGGER_READ() (SY_SIO(0x10) & 1u << 2)
#include "core/port.h"
#include "core/systick.h"

#endif
