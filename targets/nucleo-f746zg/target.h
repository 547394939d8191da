/* STM32F746ZG on a Nucleo-144: the trigger is PB0, the green LED. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 216000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOB_BSRR SY_REG(0x40020418u)
#define SY_TRIGGER_SET SY_GPIOB_BSRR = 1u
#define SY_TRIGGER_CLEAR SY_GPIOB_BSRR = 1u << 16
#define SY_TRIGGER_READ() (SY_REG(0x40020414u) & 1u)
void sy_settle(void);
#define SY_SETTLE() sy_settle()
#define SY_COUNT_UNLOCK SY_REG(0xE0001FB0u) = 0xC5ACCE55u /* DWT_LAR */
#include "core/port.h"
#include "core/dwt.h"

#endif
