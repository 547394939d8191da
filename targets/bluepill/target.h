/* STM32F103C8 on a blue pill: the trigger is PA0. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 72000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOA_BSRR SY_REG(0x40010810u)
#define SY_TRIGGER_SET SY_GPIOA_BSRR = 1u
#define SY_TRIGGER_CLEAR SY_GPIOA_BSRR = 1u << 16
#define SY_TRIGGER_READ() (SY_REG(0x4001080Cu) & 1u)
#include "core/port.h"
#include "core/dwt.h"

#endif
