/* Vectors, C run-time start, clocks, serial port and trigger pin of the RP2040 (data sheet: 2.14 to 2.19, 2.3.1.7, 4.2). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define SET 0x2000u /* a copy of each block whose writes set bits */
#define CLEAR 0x3000u
#define CLOCKS_REF_CTRL SY_REG(0x40008030u)
#define CLOCKS_REF_SELECTED SY_REG(0x40008038u)
#define CLOCKS_SYS_CTRL SY_REG(0x4000803Cu)
#define CLOCKS_SYS_SELECTED SY_REG(0x40008044u)
#define CLOCKS_PERI_CTRL SY_REG(0x40008048u)
#define RESETS_RESET 0x4000C000u
#define RESETS_DONE SY_REG(0x4000C008u)
#define IO_CTRL(n) SY_REG(0x40014004u + 8u * (n))
#define XOSC_CTRL SY_REG(0x40024000u)
#define XOSC_STATUS SY_REG(0x40024004u)
#define XOSC_STARTUP SY_REG(0x4002400Cu)
#define PLL_CS SY_REG(0x40028000u)
#define PLL_PWR 0x40028004u
#define PLL_FBDIV SY_REG(0x40028008u)
#define PLL_PRIM SY_REG(0x4002800Cu)
#define UART_DR SY_REG(0x40034000u)
#define UART_FR SY_REG(0x40034018u)
#define UART_IBRD SY_REG(0x40034024u)
#define UART_FBRD SY_REG(0x40034028u)
#define UART_LCR_H SY_REG(0x4003402Cu)
#define UART_CR SY_REG(0x40034030u)
#define SIO_GPIO_OE_SET SY_SIO(0x24)

enum { IO_BANK0 = 1u << 5, PADS_BANK0 = 1u << 8, PLL_SYS = 1u << 12, UART0 = 1u << 22 };
enum { PD = 1u << 0, POSTDIVPD = 1u << 3, VCOPD = 1u << 5 };
enum { RXFE = 1u << 4, TXFF = 1u << 5 };
enum { FUNCTION_UART = 2, FUNCTION_SIO = 5 };
#define READY (1u << 31) /* XOSC: stable; PLL: locked */

static void rate(uint32_t baud)
{
    uint32_t divider = SY_CLOCK_HZ * 4u / baud; /* 64ths of clock / (16 x baud) */
    UART_IBRD = divider >> 6;
    UART_FBRD = divider & 63u;
    UART_LCR_H = 3u << 5 | 1u << 4; /* takes the divider: eight bits, FIFOs (4.2.7.1) */
}

void sy_target_init(void)
{
    uint32_t used = IO_BANK0 | PADS_BANK0 | PLL_SYS | UART0;
    /* 12 MHz crystal x 125 / 6 / 2 = 125 MHz; a boot loader may have the PLL in use */
    XOSC_STARTUP = 47; /* 1 ms (2.16.3) */
    XOSC_CTRL = 0xFABu << 12 | 0xAA0u;
    while (!(XOSC_STATUS & READY))
        ;
    CLOCKS_REF_CTRL = 2;
    while (CLOCKS_REF_SELECTED != 1u << 2)
        ;
    CLOCKS_SYS_CTRL = 0;
    while (CLOCKS_SYS_SELECTED != 1u << 0)
        ;
    SY_REG(RESETS_RESET + SET) = used;
    SY_REG(RESETS_RESET + CLEAR) = used;
    while ((RESETS_DONE & used) != used)
        ;
    PLL_CS = 1;
    PLL_FBDIV = 125;
    SY_REG(PLL_PWR + CLEAR) = PD | VCOPD;
    while (!(PLL_CS & READY))
        ;
    PLL_PRIM = 6u << 16 | 2u << 12;
    SY_REG(PLL_PWR + CLEAR) = POSTDIVPD;
    CLOCKS_SYS_CTRL = 1; /* auxiliary source 0: this PLL */
    while (CLOCKS_SYS_SELECTED != 1u << 1)
        ;
    CLOCKS_PERI_CTRL = 1u << 11; /* the system's clock */

    IO_CTRL(2) = FUNCTION_SIO;
    SY_TRIGGER_LOW();
    SIO_GPIO_OE_SET = 1u << 2;
    IO_CTRL(0) = FUNCTION_UART;
    IO_CTRL(1) = FUNCTION_UART;
    rate(SY_BAUD);
    UART_CR = 1u << 9 | 1u << 8 | 1u << 0; /* receive, transmit, enable */
}

uint8_t sy_getc(void)
{
    while (UART_FR & RXFE)
        ;
    return (uint8_t)UART_DR;
}

void sy_putc(uint8_t byte)
{
    while (UART_FR & TXFF)
        ;
    UART_DR = byte;
}

void sy_target_hasten(void)
{
    UART_CR = 0; /* its divider must not change while it is on */
    rate(SY_FAST_BAUD);
    UART_CR = 1u << 9 | 1u << 8 | 1u << 0;
}
