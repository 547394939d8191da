/* Vectors, C run-time start, clocks, serial port and trigger pin of the STM32L053 (RM0367 rev 8). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define PWR_CR SY_REG(0x40007000u)
#define PWR_CSR SY_REG(0x40007004u)
#define RCC_CR SY_REG(0x40021000u)
#define RCC_CFGR SY_REG(0x4002100Cu)
#define RCC_IOPENR SY_REG(0x4002102Cu)
#define RCC_APB1ENR SY_REG(0x40021038u)
#define FLASH_ACR SY_REG(0x40022000u)
#define GPIOA_MODER SY_REG(0x50000000u)
#define GPIOA_AFRL SY_REG(0x50000020u)
#define USART2_CR1 SY_REG(0x40004400u)
#define USART2_BRR SY_REG(0x4000440Cu)
#define USART2_ISR SY_REG(0x4000441Cu)
#define USART2_RDR SY_REG(0x40004424u)
#define USART2_TDR SY_REG(0x40004428u)

enum { HSI16ON = 1u << 0, HSI16RDYF = 1u << 2, PLLON = 1u << 24, PLLRDY = 1u << 25, VOSF = 1u << 4 };
enum { RXNE = 1u << 5, TXE = 1u << 7 };

void sy_target_init(void)
{
    /* 16 MHz RC oscillator x 4 / 2 = 32 MHz, which needs voltage range 1 (6.1.4); one wait state with
     * prefetch (3.3.3) */
    RCC_APB1ENR |= 1u << 28;
    PWR_CR = 1u << 11;
    while (PWR_CSR & VOSF)
        ;
    FLASH_ACR = 3u;
    RCC_CR |= HSI16ON;
    while (!(RCC_CR & HSI16RDYF))
        ;
    RCC_CFGR = 1u << 22 | 1u << 18;
    RCC_CR |= PLLON;
    while (!(RCC_CR & PLLRDY))
        ;
    RCC_CFGR |= 3u;
    while ((RCC_CFGR >> 2 & 3u) != 3u)
        ;
    RCC_IOPENR |= 1u << 0;           /* port A */
    RCC_APB1ENR |= 1u << 17;         /* USART2 */
    GPIOA_AFRL = 4u << 12 | 4u << 8; /* PA2, PA3: alternate function 4 */
    GPIOA_MODER = 0xEBFFF7AFu;       /* and PA5 an output */
    SY_TRIGGER_LOW();
    USART2_BRR = (SY_CLOCK_HZ * 2 / SY_BAUD + 1) / 2;
    USART2_CR1 = 1u << 3 | 1u << 2 | 1u << 0; /* transmit, receive, enable (27.8.1) */
}

uint8_t sy_getc(void)
{
    while (!(USART2_ISR & RXNE))
        ;
    return (uint8_t)USART2_RDR;
}

void sy_putc(uint8_t byte)
{
    while (!(USART2_ISR & TXE))
        ;
    USART2_TDR = byte;
}

void sy_target_hasten(void)
{
    USART2_CR1 = 0; /* the divider is locked while it is on (27.8.4) */
    USART2_BRR = SY_CLOCK_HZ / SY_FAST_BAUD;
    USART2_CR1 = 1u << 3 | 1u << 2 | 1u << 0;
}
