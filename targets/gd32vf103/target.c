/* C run-time start, clocks, serial port and trigger pin of the GD32VF103 (user manual rev 1.x, chapters 5, 7
 * and 16). */
#include "harness.h"
#include "core/start.h"

#define RCU_CTL SY_REG(0x40021000u)
#define RCU_CFG0 SY_REG(0x40021004u)
#define RCU_APB2EN SY_REG(0x40021018u)
#define RCU_CFG1 SY_REG(0x4002102Cu)
#define GPIOA_CTL0 SY_REG(0x40010800u)
#define GPIOA_CTL1 SY_REG(0x40010804u)
#define USART0_STAT SY_REG(0x40013800u)
#define USART0_DATA SY_REG(0x40013804u)
#define USART0_BAUD SY_REG(0x40013808u)
#define USART0_CTL0 SY_REG(0x4001380Cu)

enum { HXTALEN = 1u << 16, HXTALSTB = 1u << 17, PLLEN = 1u << 24, PLLSTB = 1u << 25 };
enum { RBNE = 1u << 5, TBE = 1u << 7 };

void sy_start(void);

void sy_start(void)
{
    sy_run_main();
    for (;;)
        __asm__ volatile("ebreak");
}

void sy_target_init(void)
{
    /* 8 MHz crystal / 2 x 27 = 108 MHz, APB1 at half of it (5.3.2, 5.3.12) */
    RCU_CTL |= HXTALEN;
    while (!(RCU_CTL & HXTALSTB))
        ;
    RCU_CFG1 = 1u;                                                   /* PREDV0: 2, of which */
    RCU_CFG0 = 1u << 29 | 10u << 18 | 1u << 17 | 1u << 16 | 4u << 8; /* bit 17 is the lowest; PLLMF 27, APB1 / 2 */
    RCU_CTL |= PLLEN;
    while (!(RCU_CTL & PLLSTB))
        ;
    RCU_CFG0 |= 2u;
    while ((RCU_CFG0 >> 2 & 3u) != 2u)
        ;
    RCU_APB2EN |= 1u << 14 | 1u << 2; /* USART0, port A */
    GPIOA_CTL0 = 0x44444443u;         /* PA0: push-pull output, 50 MHz (7.5.1) */
    GPIOA_CTL1 = 0x444444B4u;         /* PA9: alternate push-pull; PA10: floating input */
    SY_TRIGGER_LOW();
    USART0_BAUD = (SY_CLOCK_HZ + SY_BAUD / 2) / SY_BAUD;
    USART0_CTL0 = 1u << 13 | 1u << 3 | 1u << 2; /* enable, transmit, receive (16.4.4) */
}

uint8_t sy_getc(void)
{
    while (!(USART0_STAT & RBNE))
        ;
    return (uint8_t)USART0_DATA;
}

void sy_putc(uint8_t byte)
{
    while (!(USART0_STAT & TBE))
        ;
    USART0_DATA = byte;
}

void sy_target_hasten(void)
{
    USART0_BAUD = SY_CLOCK_HZ / SY_FAST_BAUD;
}
