/* C run-time start, clocks, serial port and trigger pin of the K210. UARTHS and GPIOHS: FE310-G000 manual,
 * chapters 17 and 18; pin matrix (FPIOA) and system controller: the vendor's SDK. */
#include "harness.h"
#include "core/start.h"

#define UARTHS_TXDATA SY_REG(0x38000000u)
#define UARTHS_RXDATA SY_REG(0x38000004u)
#define UARTHS_TXCTRL SY_REG(0x38000008u)
#define UARTHS_RXCTRL SY_REG(0x3800000Cu)
#define UARTHS_DIV SY_REG(0x38000018u)
#define GPIOHS_OUTPUT_EN SY_REG(0x38001008u)
#define FPIOA_IO(n) SY_REG(0x502B0000u + 4u * (n))
#define SYSCTL_PLL0 SY_REG(0x50440008u)
#define SYSCTL_PLL_LOCK SY_REG(0x50440018u)
#define SYSCTL_CLK_SEL0 SY_REG(0x50440020u)

enum { FULL = 1u << 31, EMPTY = 1u << 31 };
enum { PLL_RESET = 1u << 20, PLL_POWER = 1u << 21, PLL_OUT = 1u << 25, PLL_LOCKED = 3u };
/* drive strength 15, output and input enabled, Schmitt trigger; functions UARTHS_RX, UARTHS_TX, GPIOHS0 */
enum { DRIVE = 15u << 8, OE = 1u << 12, IE = 1u << 20, SCHMITT = 1u << 23 };
enum { UARTHS_RX = 18, UARTHS_TX = 19, GPIOHS0 = 24 };

void sy_start(void);

void sy_start(void)
{
    sy_run_main();
    for (;;)
        __asm__ volatile("ebreak");
}

void sy_target_init(void)
{
    /* 26 MHz x 31 = 806 MHz, the cores at half of it: 403 MHz */
    const uint32_t pll = 30u << 4 | 30u << 14; /* reference / 1, x 31, output / 1, bandwidth 31 */
    SYSCTL_CLK_SEL0 &= ~1u;                    /* the crystal meanwhile */
    SYSCTL_PLL0 = pll | PLL_POWER;
    SYSCTL_PLL0 = pll | PLL_POWER | PLL_RESET;
    SYSCTL_PLL0 = pll | PLL_POWER;
    while ((SYSCTL_PLL_LOCK & PLL_LOCKED) != PLL_LOCKED)
        SYSCTL_PLL_LOCK |= 4u; /* clears a slip */
    SYSCTL_PLL0 = pll | PLL_POWER | PLL_OUT;
    SYSCTL_CLK_SEL0 = (SYSCTL_CLK_SEL0 & ~6u) | 1u;

    FPIOA_IO(4) = UARTHS_RX | IE | SCHMITT;
    FPIOA_IO(5) = UARTHS_TX | DRIVE | OE;
    FPIOA_IO(21) = GPIOHS0 | DRIVE | OE;
    SY_TRIGGER_LOW();
    GPIOHS_OUTPUT_EN = 1u;
    UARTHS_DIV = SY_CLOCK_HZ / SY_BAUD - 1u;
    UARTHS_TXCTRL = 1u;
    UARTHS_RXCTRL = 1u;
}

uint8_t sy_getc(void)
{
    uint32_t data;
    do
        data = UARTHS_RXDATA;
    while (data & EMPTY);
    return (uint8_t)data;
}

void sy_putc(uint8_t byte)
{
    while (UARTHS_TXDATA & FULL)
        ;
    UARTHS_TXDATA = byte;
}

void sy_target_hasten(void)
{
    UARTHS_DIV = SY_CLOCK_HZ / SY_FAST_BAUD - 1u;
}

/* What C++ packages ask for where size_t is unsigned long; harness/heap.c has the names for unsigned int. */
void *malloc(size_t size);
void free(void *block);
void *_Znwm(size_t size);
void *_Znam(size_t size);
void _ZdlPvm(void *block, size_t size);
void _ZdaPvm(void *block, size_t size);

void *_Znwm(size_t size)
{
    return malloc(size);
}

void *_Znam(size_t size)
{
    return malloc(size);
}

void _ZdlPvm(void *block, size_t size)
{
    (void)size;
    free(block);
}

void _ZdaPvm(void *block, size_t size)
{
    (void)size;
    free(block);
}
