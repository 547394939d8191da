/* ATmega4809 on an Arduino Nano Every: the trigger is PE2 (pin D13, the LED).
 * Registers are defined here: avr-libc of Debian 12 does not know the chip. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 16000000UL
#define SY_STACK_RESERVE 96 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 24     /* return addresses and registers of the fill itself */
/* VPORTE.OUT */
#define SY_TRIGGER_HIGH() __asm__ volatile("sbi 0x11, 2" : : : "memory")
#define SY_TRIGGER_LOW() __asm__ volatile("cbi 0x11, 2" : : : "memory")
#define SY_TRIGGER_READ() (*(volatile uint8_t *)0x11 & 1u << 2)
/* TCA0.SINGLE at the core's clock: 16 bits, no interrupt; CTRLA, CNT. */
#define SY_COUNTER_BITS 16
#define SY_COUNT_START() (*(volatile uint8_t *)0x0A00 = 1, *(volatile uint16_t *)0x0A20 = 0)
#define SY_COUNT() (*(volatile uint16_t *)0x0A20)
#define SY_STACK_POINTER() ((uint8_t *)*(volatile uint16_t *)0x3D)
#define SY_STACK_EMPTY 1 /* it points to the first free byte */

#endif
