/* Serial port and trigger pin of the ATtiny85 (data sheet 2586Q, "I/O Ports", "8-bit Timer/Counter0 with PWM" and "USI").
 * The chip has no USART. Its USI shifts eight bits at the rate of Timer0's compare match, so it samples and sends between
 * the edges of a serial line by itself; start and stop bits are the program's. The USI begins with the highest bit, a serial
 * line with the lowest: bytes are turned round. */
#include "harness.h"

enum { LINE_IN = 1 << PB0, LINE_OUT = 1 << PB1, TRIGGER = 1 << PB2 };
enum { BIT = (SY_CLOCK_HZ + SY_BAUD / 2) / SY_BAUD };
enum { LISTEN = 1 << USICS0, TALK = 1 << USIWM0 | 1 << USICS0 }; /* the clock is Timer0's; DO is driven, or the port's */

_Static_assert(BIT <= 256 && 3 * BIT / 2 > BIT && 3 * BIT / 2 - BIT <= 256, "Timer0 has 8 bits");

static uint8_t turned(uint8_t byte)
{
    uint8_t other = 0, i;
    for (i = 0; i < 8; i++) {
        other = (uint8_t)(other << 1) | (byte & 1);
        byte >>= 1;
    }
    return other;
}

void sy_target_init(void)
{
    PORTB = LINE_IN | LINE_OUT; /* pulled up; idle */
    DDRB = LINE_OUT | TRIGGER;
    OCR0A = BIT - 1;
    TCCR0A = 1 << WGM01;
    TCCR0B = 1 << CS00;
}

/* Waits for so many shifts. */
static void shift(uint8_t count)
{
    USISR = (uint8_t)(1 << USIOIF | (16 - count));
    while (!(USISR & 1 << USIOIF))
        ;
}

uint8_t sy_getc(void)
{
    while (PINB & LINE_IN)
        ;
    /* to the middle of the first bit: the count goes over its end before it comes to the compare value */
    TCNT0 = (uint8_t)(256 - (3 * BIT / 2 - BIT));
    USICR = LISTEN;
    shift(8);
    USICR = 0;
    while (!(PINB & LINE_IN))
        ; /* the last bit, until the stop bit */
    return turned(USIBR);
}

void sy_putc(uint8_t byte)
{
    byte = turned(byte);
    USIDR = byte >> 1; /* start bit, bits 0 to 6 */
    TCNT0 = 0;
    USICR = TALK;
    shift(7);
    USIDR = (uint8_t)(byte << 6) | 0x3F; /* bit 6, which is on the line, bit 7, stop bit */
    shift(3);
    USICR = 0;
}
