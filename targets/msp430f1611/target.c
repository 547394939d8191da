/* Vectors, C run-time start, clocks, serial port and trigger pin of the MSP430F1611 (SLAU049F, SLAS368G). */
#include "harness.h"
#include "core/start.h"

#define REG8(address) (*(volatile uint8_t *)(address))
#define REG16(address) (*(volatile uint16_t *)(address))

#define IFG1 REG8(0x02)
#define IFG2 REG8(0x03)
#define ME2 REG8(0x05)
#define P3SEL REG8(0x1B)
#define P1OUT REG8(0x21)
#define P1DIR REG8(0x22)
#define BCSCTL1 REG8(0x57)
#define BCSCTL2 REG8(0x58)
#define U1CTL REG8(0x78)
#define U1TCTL REG8(0x79)
#define U1MCTL REG8(0x7B)
#define U1BR0 REG8(0x7C)
#define U1BR1 REG8(0x7D)
#define U1RXBUF REG8(0x7E)
#define U1TXBUF REG8(0x7F)
#define WDTCTL REG16(0x0120)

enum { OFIFG = 0x02, URXIFG1 = 0x10, UTXIFG1 = 0x20 };
enum { WDTPW_WDTHOLD = 0x5A80 };
enum { XT2OFF = 0x80 };
enum { SWRST = 0x01, CHAR_8 = 0x10, SSEL_SMCLK = 0x20 };

void sy_reset(void);
void sy_start(void);

/* No interrupt is used: every vector but reset stops the program where a debugger or the simulator sees it. */
__attribute__((used)) static void stop(void)
{
    for (;;)
        __asm__ volatile("bis #0x10, r2"); /* CPUOFF */
}

__attribute__((section(".text.sy_reset"), naked, used)) void sy_reset(void)
{
    __asm__ volatile("mov #sy_stack_top, r1\n\tbr #sy_start");
}

__attribute__((used, noinline)) void sy_start(void)
{
    WDTCTL = WDTPW_WDTHOLD;
    sy_run_main();
    stop();
}

/* 0xFFE0 .. 0xFFFF (SLAS368G, interrupt vector addresses) */
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, stop, sy_reset,
};

void sy_target_init(void)
{
    uint16_t n;
    /* 8 MHz crystal at XT2 for MCLK and SMCLK (4.2); it runs when the fault flag stays clear for 50 us */
    BCSCTL1 &= (uint8_t)~XT2OFF;
    do {
        IFG1 &= (uint8_t)~OFIFG;
        for (n = 0; n < 255; n++)
            __asm__ volatile("nop");
    } while (IFG1 & OFIFG);
    BCSCTL2 = 0x88; /* SELM 2: XT2, SELS: XT2 */

    P1OUT &= (uint8_t)~1;
    P1DIR |= 1;
    P3SEL |= 0xC0; /* P3.6 UTXD1, P3.7 URXD1 */
    U1CTL = CHAR_8 | SWRST;
    U1TCTL = SSEL_SMCLK;
    U1BR0 = SY_CLOCK_HZ / SY_BAUD; /* 69 and four bits of eight with one more: 69.44 is wanted (13.2.6) */
    U1BR1 = 0;
    U1MCTL = 0xAA;
    ME2 |= 0x30; /* both directions */
    U1CTL &= (uint8_t)~SWRST;
}

uint8_t sy_getc(void)
{
    while (!(IFG2 & URXIFG1))
        ;
    return U1RXBUF;
}

void sy_putc(uint8_t byte)
{
    while (!(IFG2 & UTXIFG1))
        ;
    U1TXBUF = byte;
}

void sy_target_hasten(void)
{
    U1CTL |= SWRST;
    U1BR0 = SY_CLOCK_HZ / SY_FAST_BAUD;
    U1MCTL = 0;
    U1CTL &= (uint8_t)~SWRST;
}
