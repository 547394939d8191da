/* Vectors, C run-time start, clocks, serial port and trigger pin of the SAM3X8E (data sheet 11057C). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define PMC_PCER0 SY_REG(0x400E0610u)
#define CKGR_MOR SY_REG(0x400E0620u)
#define CKGR_PLLAR SY_REG(0x400E0628u)
#define PMC_MCKR SY_REG(0x400E0630u)
#define PMC_SR SY_REG(0x400E0668u)
#define UART_CR SY_REG(0x400E0800u)
#define UART_MR SY_REG(0x400E0804u)
#define UART_SR SY_REG(0x400E0814u)
#define UART_RHR SY_REG(0x400E0818u)
#define UART_THR SY_REG(0x400E081Cu)
#define UART_BRGR SY_REG(0x400E0820u)
#define EEFC0_FMR SY_REG(0x400E0A00u)
#define EEFC1_FMR SY_REG(0x400E0C00u)
#define PIOA_PDR SY_REG(0x400E0E04u)
#define PIOA_ABSR SY_REG(0x400E0E70u)
#define PIOB_PER SY_REG(0x400E1000u)
#define PIOB_OER SY_REG(0x400E1010u)
#define WDT_MR SY_REG(0x400E1A54u)

enum { MOSCXTS = 1u << 0, LOCKA = 1u << 1, MCKRDY = 1u << 3, MOSCSELS = 1u << 16 }; /* PMC_SR */
enum { RXRDY = 1u << 0, TXRDY = 1u << 1 };                                         /* UART_SR */

static void wait(uint32_t bits)
{
    while ((PMC_SR & bits) != bits)
        ;
}

void sy_target_init(void)
{
    /* 12 MHz crystal x 14 / 2 = 84 MHz; four wait states (45.9) */
    const uint32_t key = 0x37u << 16, crystal = 8u << 8 | 1u << 3 | 1u;
    WDT_MR = 1u << 15;
    EEFC0_FMR = 4u << 8;
    EEFC1_FMR = 4u << 8;
    CKGR_MOR = key | crystal;
    wait(MOSCXTS);
    CKGR_MOR = key | 1u << 24 | crystal;
    wait(MOSCSELS);
    PMC_MCKR = 1u;
    wait(MCKRDY);
    CKGR_PLLAR = 1u << 29 | 13u << 16 | 0x3Fu << 8 | 1u;
    wait(LOCKA);
    PMC_MCKR = 1u << 4 | 1u;
    wait(MCKRDY);
    PMC_MCKR = 1u << 4 | 2u;
    wait(MCKRDY);
    PMC_PCER0 = 1u << 12 | 1u << 11 | 1u << 8; /* ports B and A, UART */
    PIOB_PER = 1u << 27;
    SY_TRIGGER_LOW();
    PIOB_OER = 1u << 27;
    PIOA_ABSR &= ~(3u << 8); /* PA8, PA9: peripheral A */
    PIOA_PDR = 3u << 8;
    UART_MR = 4u << 9; /* no parity */
    UART_BRGR = (SY_CLOCK_HZ / 8 / SY_BAUD + 1) / 2;
    UART_CR = 1u << 6 | 1u << 4; /* transmit, receive */
}

uint8_t sy_getc(void)
{
    while (!(UART_SR & RXRDY))
        ;
    return (uint8_t)UART_RHR;
}

void sy_putc(uint8_t byte)
{
    while (!(UART_SR & TXRDY))
        ;
    UART_THR = byte;
}

void sy_target_hasten(void)
{
    UART_BRGR = SY_CLOCK_HZ / 16 / SY_FAST_BAUD;
}
