/* ESP8266: the trigger is GPIO5, D1 of a NodeMCU. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 80000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_GPIO(offset) (*(volatile uint32_t *)(0x60000300u + (offset)))
#define SY_TRIGGER_HIGH() \
    do { \
        SY_GPIO(0x04) = 1u << 5; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_GPIO(0x08) = 1u << 5; \
    } while (0)
#define SY_TRIGGER_READ() (SY_GPIO(0x00) & 1u << 5)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
