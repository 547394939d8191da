/* CH32V003: the trigger is PC4. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 24000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOC_BSHR SY_REG(0x40011010u)
#define SY_TRIGGER_SET SY_GPIOC_BSHR = 1u << 4
#define SY_TRIGGER_CLEAR SY_GPIOC_BSHR = 1u << 20
#define SY_TRIGGER_READ() (SY_REG(0x4001100Cu) & 1u << 4)
/* SysTick at the core's clock, which goes up; no interrupt. */
#define SY_COUNTER_BITS 32
#define SY_COUNT_START() (SY_REG(0xE000F000u) = 5u, SY_REG(0xE000F008u) = 0)
#define SY_COUNT() SY_REG(0xE000F008u)
#include "core/port.h"

#endif
