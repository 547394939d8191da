/* MSP430F1611 as on the TelosB and Tmote Sky motes: the trigger is P1.0. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 8000000UL
#define SY_STACK_RESERVE 192 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 48      /* return addresses and saved registers of the fill itself */
#define SY_P1OUT "&0x0021"
#define SY_TRIGGER_HIGH() __asm__ volatile("bis.b #1, " SY_P1OUT : : : "memory")
#define SY_TRIGGER_LOW() __asm__ volatile("bic.b #1, " SY_P1OUT : : : "memory")
#define SY_TRIGGER_READ() (*(volatile uint8_t *)0x0021 & 1u)
/* Timer_A at SMCLK, which is MCLK here: continuous mode, from 0 (SLAU049F, 11.3); TACTL, TAR. */
#define SY_COUNTER_BITS 16
#define SY_COUNT_START() (*(volatile uint16_t *)0x0160 = 0x0224)
#define SY_COUNT() (*(volatile uint16_t *)0x0170)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov r1, %0" : "=r"(sp_)); \
        sp_; \
    })

#endif
