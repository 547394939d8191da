/* Serial port and trigger pin of the ATmega128 (data sheet 2467X, "I/O Ports" and "USART"). */
#include "harness.h"

#define DIVIDER(baud) ((SY_CLOCK_HZ / 4 / (baud) - 1) / 2)

void sy_target_init(void)
{
    DDRB |= _BV(DDB5);
    PORTB &= (uint8_t)~_BV(PORTB5);
    UCSR0A = _BV(U2X0);
    UBRR0L = DIVIDER(SY_BAUD); /* UBRR0H and UCSR0C (8N1) keep their reset values */
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
    UBRR0L = DIVIDER(SY_FAST_BAUD);
}
