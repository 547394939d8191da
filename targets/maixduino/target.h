/* K210 on a Maixduino: the trigger is GPIOHS0, on IO21. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 403000000UL
#define SY_STACK_RESERVE 512 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 128     /* saved registers of the fill itself */
#define SY_GPIOHS_OUTPUT (*(volatile uint32_t *)0x3800100CU)
#define SY_TRIGGER_HIGH() \
    do { \
        SY_GPIOHS_OUTPUT = 1u; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_GPIOHS_OUTPUT = 0u; \
    } while (0)
#define SY_TRIGGER_READ() (SY_GPIOHS_OUTPUT & 1u)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mv %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
