/* Vectors, C run-time start, clock, serial port and trigger pin of the nRF52840 (Product Specification v1.1). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define CLOCK_TASKS_HFCLKSTART SY_REG(0x40000000u)
#define CLOCK_EVENTS_HFCLKSTARTED SY_REG(0x40000100u)
#define UART_TASKS_STARTRX SY_REG(0x40002000u)
#define UART_TASKS_STARTTX SY_REG(0x40002008u)
#define UART_EVENTS_RXDRDY SY_REG(0x40002108u)
#define UART_EVENTS_TXDRDY SY_REG(0x4000211Cu)
#define UART_ENABLE SY_REG(0x40002500u)
#define UART_PSELTXD SY_REG(0x4000250Cu)
#define UART_PSELRXD SY_REG(0x40002514u)
#define UART_RXD SY_REG(0x40002518u)
#define UART_TXD SY_REG(0x4000251Cu)
#define UART_BAUDRATE SY_REG(0x40002524u)
#define NVMC_ICACHECNF SY_REG(0x4001E540u)
#define P0_DIRSET SY_REG(0x50000518u)

enum { TXD_PIN = 6, RXD_PIN = 8 }; /* to the debugger's serial port */

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
    SY_REG(0x50000508u) = 1u << TXD_PIN; /* the line is high before the UART takes it */
    UART_PSELTXD = TXD_PIN;
    UART_PSELRXD = RXD_PIN;
    UART_BAUDRATE = 0x01D7E000u; /* SY_BAUD, 115200 (6.34.10) */
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

void sy_target_hasten(void)
{
    UART_BAUDRATE = 0x10000000u; /* SY_FAST_BAUD, 1000000 (6.34.10) */
}
