/* Clock, serial port and trigger pin of the ATtiny1614 (data sheet DS40001995; addresses: chapter "Peripherals and
 * Architecture"). USART0 is on its usual pins, PB2 out and PB3 in. */
#include "harness.h"

#define REG(address) (*(volatile uint8_t *)(address))
#define VPORTA_DIR REG(0x0000)
#define VPORTB_DIR REG(0x0004)
#define VPORTB_OUT REG(0x0005)
#define CPU_CCP REG(0x0034)
#define CLKCTRL_MCLKCTRLB REG(0x0061)
#define USART0_RXDATAL REG(0x0800)
#define USART0_TXDATAL REG(0x0802)
#define USART0_STATUS REG(0x0804)
#define USART0_CTRLB REG(0x0806)
#define USART0_BAUD (*(volatile uint16_t *)0x0808)

#define DIVIDER(baud) (uint16_t)((SY_CLOCK_HZ * 4 + (baud) / 2) / (baud)) /* 64 f / (16 x baud) */

enum { CCP_IOREG = 0xD8, RXEN = 1 << 7, TXEN = 1 << 6, RXCIF = 1 << 7, DREIF = 1 << 5 };

void sy_target_init(void)
{
    /* the oscillator's fuse says 20 MHz, as it comes; without the prescaler that is the core's clock */
    CPU_CCP = CCP_IOREG;
    CLKCTRL_MCLKCTRLB = 0;
    SY_TRIGGER_LOW();
    VPORTA_DIR |= 1 << 3;
    VPORTB_OUT |= 1 << 2;
    VPORTB_DIR |= 1 << 2;
    USART0_BAUD = DIVIDER(SY_BAUD);
    USART0_CTRLB = RXEN | TXEN;
}

uint8_t sy_getc(void)
{
    while (!(USART0_STATUS & RXCIF))
        ;
    return USART0_RXDATAL;
}

void sy_putc(uint8_t byte)
{
    while (!(USART0_STATUS & DREIF))
        ;
    USART0_TXDATAL = byte;
}

void sy_target_hasten(void)
{
    USART0_BAUD = DIVIDER(SY_FAST_BAUD);
}
