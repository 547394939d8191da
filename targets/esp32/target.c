/* Serial port and trigger pin of the ESP32 (ESP32 Technical Reference Manual, IO_MUX and GPIO matrix,
 * UART, watchdog timers; addresses were not checked on a board).
 *
 * The clock stays as the boot ROM leaves it, at the crystal, because the registers of the PLL are not documented. Cycle
 * counts do not depend on it; core and bus have SY_BOARD_HZ then. */
#include "harness.h"

#define UART_FIFO SY_REG(0x3FF40000u)
#define UART_CLKDIV SY_REG(0x3FF40014u)
#define UART_STATUS SY_REG(0x3FF4001Cu)
#define UART_CONF0 SY_REG(0x3FF40020u)
#define GPIO_ENABLE_W1TS SY_GPIO(0x24)
#define GPIO_FUNC4_OUT_SEL_CFG SY_GPIO(0x540)
#define RTC_WDTCONFIG0 SY_REG(0x3FF4808Cu)
#define RTC_WDTWPROTECT SY_REG(0x3FF480A4u)
#define IOMUX_GPIO4 SY_REG(0x3FF49048u)
#define TIMG0_WDTCONFIG0 SY_REG(0x3FF5F048u)
#define TIMG0_WDTWPROTECT SY_REG(0x3FF5F064u)

/* a whole number, and sixteenths (UART_CLKDIV_REG) */
#define DIVIDER(baud) (SY_BOARD_HZ / (baud) | (SY_BOARD_HZ * 16 / (baud) % 16) << 20)

enum { FIFO_SIZE = 128, WDT_KEY = 0x50D83AA1 };

void sy_target_init(void)
{
    RTC_WDTWPROTECT = WDT_KEY;
    RTC_WDTCONFIG0 = 0;
    TIMG0_WDTWPROTECT = WDT_KEY;
    TIMG0_WDTCONFIG0 = 0;
    IOMUX_GPIO4 = 2u << 12; /* function 2 is GPIO */
    GPIO_FUNC4_OUT_SEL_CFG = 256; /* no peripheral: the output register */
    SY_TRIGGER_LOW();
    GPIO_ENABLE_W1TS = 1u << 4;
    UART_CLKDIV = DIVIDER(SY_BAUD);
    UART_CONF0 = 1u << 27 | 1u << 4 | 3u << 2; /* APB clock, one stop bit, eight bits, no parity */
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
    UART_CLKDIV = DIVIDER(SY_FAST_BAUD);
}
