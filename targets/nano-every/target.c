/* Clock, serial port and trigger pin of the ATmega4809 (data sheet DS40002173; addresses: chapter "Peripherals
 * and Architecture"). The board's USB serves USART3 on its alternate pins, PB4 out and PB5 in. */
#include "harness.h"

#define REG(address) (*(volatile uint8_t *)(address))
#define VPORTB_DIR REG(0x0004)
#define VPORTB_OUT REG(0x0005)
#define VPORTE_DIR REG(0x0010)
#define CPU_CCP REG(0x0034)
#define CLKCTRL_MCLKCTRLB REG(0x0061)
#define PORTMUX_USARTROUTEA REG(0x05E2)
#define USART3_RXDATAL REG(0x0860)
#define USART3_TXDATAL REG(0x0862)
#define USART3_STATUS REG(0x0864)
#define USART3_CTRLB REG(0x0866)
#define USART3_BAUD (*(volatile uint16_t *)0x0868)

#define DIVIDER(baud) (uint16_t)((SY_CLOCK_HZ * 4 + (baud) / 2) / (baud)) /* 64 f / (16 x baud) */

enum { CCP_IOREG = 0xD8, USART3_ALT1 = 1 << 6, RXEN = 1 << 7, TXEN = 1 << 6, RXCIF = 1 << 7, DREIF = 1 << 5 };

void sy_target_init(void)
{
    /* the oscillator's fuse says 16 MHz on this board; without the prescaler that is the core's clock */
    CPU_CCP = CCP_IOREG;
    CLKCTRL_MCLKCTRLB = 0;
    SY_TRIGGER_LOW();
    VPORTE_DIR |= 1 << 2;
    VPORTB_OUT |= 1 << 4;
    VPORTB_DIR |= 1 << 4;
    PORTMUX_USARTROUTEA = USART3_ALT1;
    USART3_BAUD = DIVIDER(SY_BAUD);
    USART3_CTRLB = RXEN | TXEN;
}

uint8_t sy_getc(void)
{
    while (!(USART3_STATUS & RXCIF))
        ;
    return USART3_RXDATAL;
}

void sy_putc(uint8_t byte)
{
    while (!(USART3_STATUS & DREIF))
        ;
    USART3_TXDATAL = byte;
}

void sy_target_hasten(void)
{
    USART3_BAUD = DIVIDER(SY_FAST_BAUD);
}
