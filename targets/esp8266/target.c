/* Serial port and trigger pin of the ESP8266 (ESP8266 Technical Reference, GPIO and UART registers).
 *
 * The clock stays as the boot ROM, or a boot loader, leaves it, because the registers of the PLL are not documented.
 * Cycle counts do not depend on it; core and bus have SY_BOARD_HZ then. */
#include "harness.h"

#define UART_FIFO SY_REG(0x60000000u)
#define UART_CLKDIV SY_REG(0x60000014u)
#define UART_STATUS SY_REG(0x6000001Cu)
#define UART_CONF0 SY_REG(0x60000020u)
#define IOMUX_U0TXD SY_REG(0x60000818u)
#define IOMUX_GPIO5 SY_REG(0x60000840u)
#define WDT_CTL SY_REG(0x60000900u)
#define GPIO_ENABLE_W1TS SY_GPIO(0x10)

enum { FIFO_SIZE = 128 };

void sy_target_init(void)
{
    WDT_CTL &= ~1u; /* bit 0 enables the watchdog */
    IOMUX_U0TXD = 0; /* function 0 of this pad is U0TXD, of the next one GPIO5 */
    IOMUX_GPIO5 = 0;
    SY_TRIGGER_LOW();
    GPIO_ENABLE_W1TS = 1u << 5;
    UART_CLKDIV = (SY_BOARD_HZ + SY_BAUD / 2) / SY_BAUD;
    UART_CONF0 = 1u << 4 | 3u << 2; /* one stop bit, eight bits, no parity */
}

uint8_t sy_getc(void)
{
    while ((UART_STATUS & 0xFFu) == 0)
        ;
    return (uint8_t)UART_FIFO;
}

void sy_putc(uint8_t byte)
{
    while ((UART_STATUS >> 16 & 0xFFu) >= FIFO_SIZE - 2)
        ;
    UART_FIFO = byte;
}

void sy_target_hasten(void)
{
    UART_CLKDIV = SY_BOARD_HZ / SY_FAST_BAUD;
}
