/* ESP8266: the trigger is GPIO5, D1 of a NodeMCU. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 80000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIO(offset) SY_REG(0x60000300u + (offset))
#define SY_TRIGGER_SET SY_GPIO(0x04) = 1u << 5
#define SY_TRIGGER_CLEAR SY_GPIO(0x08) = 1u << 5
#define SY_TRIGGER_READ() (SY_GPIO(0x00) & 1u << 5)
/* CCOUNT (ISA Reference Manual, 5.3.6). */
#define SY_COUNTER_BITS 32
#define SY_COUNT_START() __asm__ volatile("wsr.ccount %0\n\tesync" : : "a"(0) : "memory")
#define SY_COUNT() \
    ({ \
        uint32_t count_; \
        __asm__ volatile("rsr.ccount %0" : "=a"(count_) : : "memory"); \
        count_; \
    })
#include "core/port.h"

#endif
