/* Serial port and trigger pin of the ATmega328P (DS40002061B, chapters 14 and 20). */
#include "harness.h"

#define DIVIDER(baud) ((SY_CLOCK_HZ / 4 / (baud) - 1) / 2)

void sy_target_init(void)
{
    DDRB |= _BV(DDB5);
    PORTB &= (uint8_t)~_BV(PORTB5);
    UCSR0A = _BV(U2X0); /* at 16 MHz only double speed comes within 2.1 % of 115200 baud */
    UBRR0 = DIVIDER(SY_BAUD);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
}

uint8_t sy_getc(void)
{
    while (!(UCSR0A & _BV(RXC0)))
        ;
    return UDR0;
}

void sy_putc(uint8_t byte)
{
    while (!(UCSR0A & _BV(UDRE0)))
        ;
    UDR0 = byte;
}

void sy_target_hasten(void)
{
    UBRR0 = DIVIDER(SY_FAST_BAUD);
}
