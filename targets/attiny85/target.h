/* ATtiny85: the trigger is PB2. It has no counter of more than 8 bits. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <avr/io.h>

#define SY_CLOCK_HZ 16000000UL
#define SY_STACK_RESERVE 96 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 24     /* return addresses and registers of the fill itself */
#define SY_TRIGGER_HIGH() __asm__ volatile("sbi %0, 2" : : "I"(_SFR_IO_ADDR(PORTB)) : "memory")
#define SY_TRIGGER_LOW() __asm__ volatile("cbi %0, 2" : : "I"(_SFR_IO_ADDR(PORTB)) : "memory")
#define SY_TRIGGER_READ() (PORTB & 1u << 2)
#define SY_STACK_POINTER() ((uint8_t *)SP)
#define SY_STACK_EMPTY 1 /* it points to the first free byte */

#endif
