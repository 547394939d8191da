/* STM32L053C8: the trigger is PA5. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 32000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOA_BSRR SY_REG(0x50000018u)
#define SY_TRIGGER_SET SY_GPIOA_BSRR = 1u << 5
#define SY_TRIGGER_CLEAR SY_GPIOA_BSRR = 1u << 21
#define SY_TRIGGER_READ() (SY_REG(0x50000014u) & 1u << 5)
#include "core/port.h"
#include "core/systick.h"

#endif
