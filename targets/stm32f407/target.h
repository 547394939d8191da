/* STM32F407VG on an STM32F4 Discovery: the trigger is PA1. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 24000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOA_BSRR SY_REG(0x40020018u)
#define SY_TRIGGER_SET SY_GPIOA_BSRR = 1u << 1
#define SY_TRIGGER_CLEAR SY_GPIOA_BSRR = 1u << 17
#define SY_TRIGGER_READ() (SY_REG(0x40020014u) & 1u << 1)
#include "core/port.h"
#include "core/dwt.h"

#endif
