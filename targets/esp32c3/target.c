/* C run-time start, clock, serial port and trigger pin of the ESP32-C3 (Technical Reference Manual, "IO MUX and GPIO
 * Matrix", "UART Controller", "Watchdog Timers", "System Registers"; addresses: the vendor's SVD file). */
#include "harness.h"
#include "core/start.h"

#define UART_FIFO SY_REG(0x60000000u)
#define UART_CLKDIV SY_REG(0x60000014u)
#define UART_STATUS SY_REG(0x6000001Cu)
#define UART_CONF0 SY_REG(0x60000020u)
#define UART_CLK_CONF SY_REG(0x60000078u)
#define UART_ID SY_REG(0x60000080u)
#define GPIO_ENABLE_W1TS SY_GPIO(0x24)
#define GPIO_FUNC10_OUT_SEL_CFG SY_GPIO(0x554 + 4 * 10)
#define RTC_WDTCONFIG0 SY_REG(0x60008090u)
#define RTC_WDTWPROTECT SY_REG(0x600080A8u)
#define RTC_SWD_CONF SY_REG(0x600080ACu)
#define RTC_SWD_WPROTECT SY_REG(0x600080B0u)
#define IOMUX_GPIO(n) SY_REG(0x60009004u + 4u * (n))
#define TIMG0_WDTCONFIG0 SY_REG(0x6001F048u)
#define TIMG0_WDTWPROTECT SY_REG(0x6001F064u)
#define SYSTEM_SYSCLK_CONF SY_REG(0x600C0058u)

enum { FIFO_SIZE = 128, WDT_KEY = 0x50D83AA1, WDT_UPDATE = 1 << 22 };
#define SWD_KEY 0x8F1D312Au
#define REG_UPDATE (1u << 31)
/* sixteenths of the crystal's clock: the integral part in bits 11 to 0, the others in 23 to 20 */
#define DIVIDER(baud) (SY_CLOCK_HZ / (baud) | (SY_CLOCK_HZ * 16 / (baud) % 16) << 20)

void sy_start(void);

void sy_start(void)
{
    sy_run_main();
    for (;;)
        __asm__ volatile("ebreak");
}

static void rate(uint32_t divider)
{
    UART_CLKDIV = divider;
    UART_ID |= REG_UPDATE; /* takes the registers over to the serial clock */
    while (UART_ID & REG_UPDATE)
        ;
}

void sy_target_init(void)
{
    RTC_WDTWPROTECT = WDT_KEY;
    RTC_WDTCONFIG0 = 0;
    RTC_SWD_WPROTECT = SWD_KEY;
    RTC_SWD_CONF |= 1u << 30;
    TIMG0_WDTWPROTECT = WDT_KEY;
    TIMG0_WDTCONFIG0 = WDT_UPDATE;
    SYSTEM_SYSCLK_CONF = 0; /* the crystal, not divided */

    IOMUX_GPIO(10) = 1u << 12 | 2u << 10; /* function 1 is GPIO; 20 mA */
    GPIO_FUNC10_OUT_SEL_CFG = 128;        /* no peripheral: the output register */
    SY_TRIGGER_LOW();
    GPIO_ENABLE_W1TS = 1u << 10;

    IOMUX_GPIO(20) = 1u << 9 | 1u << 8; /* function 0 is U0RXD: input, pulled up */
    IOMUX_GPIO(21) = 2u << 10;          /* and U0TXD */
    UART_CLK_CONF = 3u << 24 | 1u << 22 | 3u << 20; /* the crystal's clock, not divided, for both directions */
    UART_CONF0 = 1u << 28 | 1u << 4 | 3u << 2;      /* one stop bit, eight bits, no parity */
    rate(DIVIDER(SY_BAUD));
}

uint8_t sy_getc(void)
{
    while ((UART_STATUS & 0x3FFu) == 0)
        ;
    return (uint8_t)UART_FIFO;
}

void sy_putc(uint8_t byte)
{
    while ((UART_STATUS >> 16 & 0x3FFu) >= FIFO_SIZE - 2)
        ;
    UART_FIFO = byte;
}

void sy_target_hasten(void)
{
    rate(DIVIDER(SY_FAST_BAUD));
}
