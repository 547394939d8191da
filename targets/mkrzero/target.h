/* ATSAMD21G18A on an Arduino MKR Zero: the trigger is PA20, pin 6. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 48000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_PORTA_OUTCLR (*(volatile uint32_t *)0x41004414u)
#define SY_PORTA_OUTSET (*(volatile uint32_t *)0x41004418u)
#define SY_TRIGGER_HIGH() \
    do { \
        SY_PORTA_OUTSET = 1u << 20; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_PORTA_OUTCLR = 1u << 20; \
    } while (0)
#define SY_TRIGGER_READ() (*(volatile uint32_t *)0x41004410u & 1u << 20)
void sy_settle(void);
#define SY_SETTLE() sy_settle()
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
