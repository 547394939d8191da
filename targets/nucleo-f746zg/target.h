/* STM32F746ZG on a Nucleo-144: the trigger is PB0, the green LED. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 216000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOB_BSRR (*(volatile uint32_t *)0x40020418u)
#define SY_TRIGGER_HIGH() \
    do { \
        SY_GPIOB_BSRR = 1u; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_GPIOB_BSRR = 1u << 16; \
    } while (0)
#define SY_TRIGGER_READ() (*(volatile uint32_t *)0x40020414u & 1u)
void sy_settle(void);
#define SY_SETTLE() sy_settle()
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
