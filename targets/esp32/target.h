/* ESP32: the trigger is GPIO4. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 240000000UL
#define SY_STACK_RESERVE 512 /* the harness's own frames and register windows while it receives a request */
#define SY_PAINT_GAP 128     /* saved registers of the fill itself */
#define SY_GPIO(offset) (*(volatile uint32_t *)(0x3FF44000u + (offset)))
#define SY_TRIGGER_HIGH() \
    do { \
        SY_GPIO(0x08) = 1u << 4; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_GPIO(0x0C) = 1u << 4; \
    } while (0)
#define SY_TRIGGER_READ() (SY_GPIO(0x04) & 1u << 4)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
