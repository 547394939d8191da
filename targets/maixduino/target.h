/* K210 on a Maixduino: the trigger is GPIOHS0, on IO21. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 403000000UL
#define SY_STACK_RESERVE 512 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 128     /* saved registers of the fill itself */
#define SY_GPIOHS_OUTPUT SY_REG(0x3800100Cu)
#define SY_TRIGGER_SET SY_GPIOHS_OUTPUT = 1u
/* The nops let the pulse of an empty call last longer than a sample of a 24 MS/s analyzer, 17 cycles, where the call alone
 * takes 10; every call has them, so that they are subtracted. */
#define SY_TRIGGER_CLEAR \
    __asm__ volatile(".rept 32\n\tnop\n\t.endr" : : : "memory"); \
    SY_GPIOHS_OUTPUT = 0u
#define SY_TRIGGER_READ() (SY_GPIOHS_OUTPUT & 1u)
/* mcycle (Privileged Architecture, 3.1.11), by encodings: assemblers differ in how the extension is asked for. The nops
 * make the harness a multiple of 8 bytes larger than it was without a counter: the image ends at one. */
#define SY_COUNTER_BITS 32
#define SY_COUNT_START() \
    __asm__ volatile(".insn i 0x73, 1, x0, x0, 0xB00 - 0x1000\n\t" /* csrw mcycle, zero */ \
                     ".rept 1\n\tnop\n\t.endr" : : : "memory")
#define SY_COUNT() \
    ({ \
        unsigned long count_; \
        __asm__ volatile(".insn i 0x73, 2, %0, x0, 0xB00 - 0x1000" /* csrr */ : "=r"(count_) : : "memory"); \
        (uint32_t)count_; \
    })
#include "core/port.h"

#endif
