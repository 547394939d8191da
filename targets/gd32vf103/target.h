/* GD32VF103CB: the trigger is PA0. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 108000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOA_BOP (*(volatile uint32_t *)0x40010810u)
#define SY_TRIGGER_HIGH() \
    do { \
        SY_GPIOA_BOP = 1u; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_GPIOA_BOP = 1u << 16; \
    } while (0)
#define SY_TRIGGER_READ() (*(volatile uint32_t *)0x4001080Cu & 1u)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mv %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
