/* ESP32-C3: the trigger is GPIO10. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 40000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIO(offset) SY_REG(0x60004000u + (offset))
#define SY_TRIGGER_SET SY_GPIO(0x08) = 1u << 10
#define SY_TRIGGER_CLEAR SY_GPIO(0x0C) = 1u << 10
#define SY_TRIGGER_READ() (SY_GPIO(0x04) & 1u << 10)
/* mpccr counts the cycles that mpcer and mpcmr, both 1, ask for (Technical Reference Manual, "ESP-RISC-V CPU", CSRs). By
 * encodings: assemblers differ in how the extension is asked for. */
#define SY_COUNTER_BITS 32
#define SY_COUNT_START() \
    __asm__ volatile(".insn i 0x73, 1, x0, %0, 0x7E0\n\t" /* csrw mpcer, 1 */ \
                     ".insn i 0x73, 1, x0, %0, 0x7E1\n\t" /* csrw mpcmr, 1 */ \
                     ".insn i 0x73, 1, x0, x0, 0x7E2" /* csrw mpccr, zero */ : : "r"(1) : "memory")
#define SY_COUNT() \
    ({ \
        unsigned long count_; \
        __asm__ volatile(".insn i 0x73, 2, %0, x0, 0x7E2" /* csrr */ : "=r"(count_) : : "memory"); \
        (uint32_t)count_; \
    })
#include "core/port.h"

#endif
