/* Vectors, C run-time start, clocks, serial port and trigger pin of the SAM D21 (DS40001882). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define REG16(address) (*(volatile uint16_t *)(address))
#define REG8(address) (*(volatile uint8_t *)(address))

#define PM_APBCMASK SY_REG(0x40000420u)
#define SYSCTRL_PCLKSR SY_REG(0x4000080Cu)
#define SYSCTRL_XOSC32K REG16(0x40000814u)
#define SYSCTRL_DFLLCTRL REG16(0x40000824u)
#define SYSCTRL_DFLLMUL SY_REG(0x4000082Cu)
#define GCLK_STATUS REG8(0x40000C01u)
#define GCLK_CLKCTRL REG16(0x40000C02u)
#define GCLK_GENCTRL SY_REG(0x40000C04u)
#define GCLK_GENDIV SY_REG(0x40000C08u)
#define NVMCTRL_CTRLB SY_REG(0x41004004u)
#define PORTA_DIRSET SY_REG(0x41004408u)
#define PORTB_PMUX11 REG8(0x410044BBu)
#define PORTB_PINCFG22 REG8(0x410044D6u)
#define PORTB_PINCFG23 REG8(0x410044D7u)
#define SERCOM5_CTRLA SY_REG(0x42001C00u)
#define SERCOM5_CTRLB SY_REG(0x42001C04u)
#define SERCOM5_BAUD REG16(0x42001C0Cu)
/* 65536 (1 - 16 x baud / clock) (26.6.2) */
#define DIVIDER(baud) (uint16_t)(65536u - (16ull * 65536u * (baud) + SY_BOARD_HZ / 2) / SY_BOARD_HZ)
#define SERCOM5_INTFLAG REG8(0x42001C18u)
#define SERCOM5_SYNCBUSY SY_REG(0x42001C1Cu)
#define SERCOM5_DATA REG16(0x42001C28u)

enum { XOSC32KRDY = 1u << 1, DFLLRDY = 1u << 4, DFLLLOCKS = 3u << 6 }; /* PCLKSR */
enum { DRE = 1u << 0, RXC = 1u << 2 };                                 /* INTFLAG */

static void wait(uint32_t bits)
{
    while ((SYSCTRL_PCLKSR & bits) != bits)
        ;
}

static void gclk_done(void)
{
    while (GCLK_STATUS & 0x80u)
        ;
}

/* A branch in each of the cache's 8 lines of 8 bytes. */
__attribute__((naked, aligned(8), section(".text.sy_settle"))) void sy_settle(void)
{
    __asm__ volatile(".rept 8\n\t"
                     "b 1f\n\t"
                     ".skip 6\n"
                     "1:\n\t"
                     ".endr\n\t"
                     "bx lr");
}

void sy_target_init(void)
{
    /* 32768 Hz crystal x 1464 = 47.97 MHz by the DFLL (17.6.7); one wait state (22.6.4, 37.12) */
    NVMCTRL_CTRLB = 1u << 7 | 1u << 1;
    SYSCTRL_XOSC32K = 6u << 8 | 1u << 3 | 1u << 2;
    SYSCTRL_XOSC32K |= 1u << 1;
    wait(XOSC32KRDY);
    GCLK_GENDIV = 1u;
    gclk_done();
    GCLK_GENCTRL = 1u << 16 | 5u << 8 | 1u; /* generator 1: the crystal */
    gclk_done();
    GCLK_CLKCTRL = 1u << 14 | 1u << 8; /* it is the DFLL's reference */
    gclk_done();
    SYSCTRL_DFLLCTRL = 1u << 1; /* on demand must be off while it is set up */
    wait(DFLLRDY);
    SYSCTRL_DFLLMUL = 31u << 26 | 511u << 16 | 1464u;
    wait(DFLLRDY);
    SYSCTRL_DFLLCTRL = 1u << 11 | 1u << 10 | 1u << 2 | 1u << 1; /* closed loop */
    wait(DFLLRDY | DFLLLOCKS);
    GCLK_GENCTRL = 1u << 17 | 1u << 16 | 7u << 8; /* generator 0: the DFLL */
    gclk_done();

    PORTA_DIRSET = 1u << 20;
    SY_TRIGGER_LOW();

    PM_APBCMASK |= 1u << 7;
    GCLK_CLKCTRL = 1u << 14 | 0x19u; /* SERCOM5 runs at generator 0 */
    gclk_done();
    PORTB_PMUX11 = 0x33; /* PB22 is pad 2, PB23 pad 3: function D */
    PORTB_PINCFG22 = 1;
    PORTB_PINCFG23 = 3;
    SERCOM5_CTRLA = 1u << 30 | 3u << 20 | 1u << 16 | 1u << 2; /* LSB first, RX pad 3, TX pad 2 */
    SERCOM5_CTRLB = 3u << 16;
    while (SERCOM5_SYNCBUSY & 4u)
        ;
    SERCOM5_BAUD = DIVIDER(SY_BAUD);
    SERCOM5_CTRLA |= 2u;
    while (SERCOM5_SYNCBUSY & 2u)
        ;
}

uint8_t sy_getc(void)
{
    while (!(SERCOM5_INTFLAG & RXC))
        ;
    return (uint8_t)SERCOM5_DATA;
}

void sy_putc(uint8_t byte)
{
    while (!(SERCOM5_INTFLAG & DRE))
        ;
    SERCOM5_DATA = byte;
}

void sy_target_hasten(void)
{
    SERCOM5_CTRLA &= ~2u; /* its divider is locked while it is on */
    while (SERCOM5_SYNCBUSY & 2u)
        ;
    SERCOM5_BAUD = DIVIDER(SY_FAST_BAUD);
    SERCOM5_CTRLA |= 2u;
    while (SERCOM5_SYNCBUSY & 2u)
        ;
}
