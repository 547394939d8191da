/* ATtiny1614: the trigger is PA3.
 * Registers are defined here: avr-libc of Debian 12 does not know the chip. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 20000000UL
#define SY_STACK_RESERVE 96 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 24     /* return addresses and registers of the fill itself */
/* VPORTA.OUT */
#define SY_TRIGGER_HIGH() __asm__ volatile("sbi 0x01, 3" : : : "memory")
#define SY_TRIGGER_LOW() __asm__ volatile("cbi 0x01, 3" : : : "memory")
#define SY_TRIGGER_READ() (*(volatile uint8_t *)0x01 & 1u << 3)
/* TCA0.SINGLE at the core's clock: 16 bits, no interrupt; CTRLA, CNT. */
#define SY_COUNTER_BITS 16
#define SY_COUNT_START() (*(volatile uint8_t *)0x0A00 = 1, *(volatile uint16_t *)0x0A20 = 0)
#define SY_COUNT() (*(volatile uint16_t *)0x0A20)
#define SY_STACK_POINTER() ((uint8_t *)*(volatile uint16_t *)0x3D)
#define SY_STACK_EMPTY 1 /* it points to the first free byte */

#endif
