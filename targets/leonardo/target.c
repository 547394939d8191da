/* Serial port and trigger pin of the ATmega32U4 (Atmel-7766J, I/O ports and USART). The serial port is USART1,
 * pins 0 and 1 of the board; its USB connector is not used. */
#include "harness.h"

#define DIVIDER(baud) ((SY_CLOCK_HZ / 4 / (baud) - 1) / 2)

void sy_target_init(void)
{
    DDRB |= _BV(DDB5);
    PORTB &= (uint8_t)~_BV(PORTB5);
    UCSR1A = _BV(U2X1); /* at 16 MHz only double speed comes within 2.1 % of 115200 baud */
    UBRR1 = DIVIDER(SY_BAUD);
    UCSR1C = _BV(UCSZ11) | _BV(UCSZ10);
    UCSR1B = _BV(RXEN1) | _BV(TXEN1);
}

uint8_t sy_getc(void)
{
    while (!(UCSR1A & _BV(RXC1)))
        ;
    return UDR1;
}

void sy_putc(uint8_t byte)
{
    while (!(UCSR1A & _BV(UDRE1)))
        ;
    UDR1 = byte;
}

void sy_target_hasten(void)
{
    UBRR1 = DIVIDER(SY_FAST_BAUD);
}
