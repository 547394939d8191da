/* Vectors, C run-time start, clock, serial port and trigger pin of the nRF52840 (Product Specification v1.1). */
#include "harness.h"

#define REG(address) (*(volatile uint32_t *)(address))

#define CLOCK_TASKS_HFCLKSTART REG(0x40000000u)
#define CLOCK_EVENTS_HFCLKSTARTED REG(0x40000100u)
#define UART_TASKS_STARTRX REG(0x40002000u)
#define UART_TASKS_STARTTX REG(0x40002008u)
#define UART_EVENTS_RXDRDY REG(0x40002108u)
#define UART_EVENTS_TXDRDY REG(0x4000211Cu)
#define UART_ENABLE REG(0x40002500u)
#define UART_PSELTXD REG(0x4000250Cu)
#define UART_PSELRXD REG(0x40002514u)
#define UART_RXD REG(0x40002518u)
#define UART_TXD REG(0x4000251Cu)
#define UART_BAUDRATE REG(0x40002524u)
#define NVMC_ICACHECNF REG(0x4001E540u)
#define P0_DIRSET REG(0x50000518u)

enum { TXD_PIN = 6, RXD_PIN = 8 }; /* to the debugger's serial port */

extern uint8_t sy_data_load[], sy_data_start[], sy_data_end[], sy_stack_top[];
int main(void);
void sy_reset(void);

static void stop(void)
{
    for (;;)
        __asm__ volatile("bkpt 0");
}

void sy_reset(void)
{
    volatile uint8_t *to = sy_data_start;
    const uint8_t *from = sy_data_load;
    while (to < sy_data_end)
        *to++ = *from++;
    while (to < sy_free_start)
        *to++ = 0;
    (void)main();
    stop();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))sy_stack_top, sy_reset, stop, stop, stop, stop, stop, NULL, NULL, NULL, NULL, stop, stop, NULL,
    stop, stop,
};

/* A branch in each of the cache's 128 lines of 16 bytes. */
__attribute__((naked, aligned(16), section(".text.sy_settle"))) void sy_settle(void)
{
    __asm__ volatile(".rept 128\n\t"
                     "b 1f\n\t"
                     ".skip 14\n"
                     "1:\n\t"
                     ".endr\n\t"
                     "bx lr");
}

void sy_target_init(void)
{
    /* the core runs at 64 MHz from reset; the crystal makes it exact (5.4.1); the cache is off after reset (4.3.2) */
    CLOCK_TASKS_HFCLKSTART = 1;
    while (!CLOCK_EVENTS_HFCLKSTARTED)
        ;
    NVMC_ICACHECNF = 1;
    P0_DIRSET = 1u << TXD_PIN | 1u << 3;
    SY_TRIGGER_LOW();
    REG(0x50000508u) = 1u << TXD_PIN; /* the line is high before the UART takes it */
    UART_PSELTXD = TXD_PIN;
    UART_PSELRXD = RXD_PIN;
    UART_BAUDRATE = 0x01D7E000u; /* 115200 (6.34.10) */
    UART_ENABLE = 4;
    UART_EVENTS_RXDRDY = 0;
    UART_TASKS_STARTTX = 1;
    UART_TASKS_STARTRX = 1;
}

uint8_t sy_getc(void)
{
    while (!UART_EVENTS_RXDRDY)
        ;
    UART_EVENTS_RXDRDY = 0;
    return (uint8_t)UART_RXD;
}

void sy_putc(uint8_t byte)
{
    UART_EVENTS_TXDRDY = 0;
    UART_TXD = byte;
    while (!UART_EVENTS_TXDRDY)
        ;
}
