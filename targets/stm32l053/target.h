/* STM32L053C8: the trigger is PA5. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 32000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIOA_BSRR (*(volatile uint32_t *)0x50000018u)
#define SY_TRIGGER_HIGH() \
    do { \
        SY_GPIOA_BSRR = 1u << 5; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_GPIOA_BSRR = 1u << 21; \
    } while (0)
#define SY_TRIGGER_READ() (*(volatile uint32_t *)0x50000014u & 1u << 5)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
