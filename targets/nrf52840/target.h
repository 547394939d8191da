/* nRF52840 on its development kit: the trigger is P0.03. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 64000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_P0_OUTSET (*(volatile uint32_t *)0x50000508u)
#define SY_P0_OUTCLR (*(volatile uint32_t *)0x5000050Cu)
#define SY_TRIGGER_HIGH() \
    do { \
        SY_P0_OUTSET = 1u << 3; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_P0_OUTCLR = 1u << 3; \
    } while (0)
#define SY_TRIGGER_READ() (*(volatile uint32_t *)0x50000504u & 1u << 3)
void sy_settle(void);
#define SY_SETTLE() sy_settle()
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#endif
