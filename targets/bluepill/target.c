/* Vectors, C run-time start, clocks, serial port and trigger pin of the STM32F103 (RM0008 rev 21). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define RCC_CR SY_REG(0x40021000u)
#define RCC_CFGR SY_REG(0x40021004u)
#define RCC_APB2ENR SY_REG(0x40021018u)
#define FLASH_ACR SY_REG(0x40022000u)
#define GPIOA_CRL SY_REG(0x40010800u)
#define GPIOA_CRH SY_REG(0x40010804u)
#define USART1_SR SY_REG(0x40013800u)
#define USART1_DR SY_REG(0x40013804u)
#define USART1_BRR SY_REG(0x40013808u)
#define USART1_CR1 SY_REG(0x4001380Cu)

enum { HSEON = 1u << 16, HSERDY = 1u << 17, PLLON = 1u << 24, PLLRDY = 1u << 25 };
enum { RXNE = 1u << 5, TXE = 1u << 7 };

void sy_target_init(void)
{
    /* 8 MHz crystal x 9 = 72 MHz, APB1 at half of it (7.2); two wait states with prefetch (PM0075 3.1) */
    FLASH_ACR = 0x12u;
    RCC_CFGR = 0; /* a boot loader may have left the PLL on, which locks its settings (7.3.2) */
    while (RCC_CFGR & 0xCu)
        ;
    RCC_CR &= ~PLLON;
    while (RCC_CR & PLLRDY)
        ;
    RCC_CR |= HSEON;
    while (!(RCC_CR & HSERDY))
        ;
    RCC_CFGR = 7u << 18 | 1u << 16 | 4u << 8;
    RCC_CR |= PLLON;
    while (!(RCC_CR & PLLRDY))
        ;
    RCC_CFGR |= 2u;
    while ((RCC_CFGR >> 2 & 3u) != 2u)
        ;
    RCC_APB2ENR |= 1u << 14 | 1u << 2; /* USART1, port A */
    GPIOA_CRL = 0x44444443u;           /* PA0: push-pull output, 50 MHz (9.2.1) */
    GPIOA_CRH = 0x444444B4u;           /* PA9: alternate push-pull; PA10: floating input */
    SY_TRIGGER_LOW();
    USART1_BRR = SY_CLOCK_HZ / SY_BAUD;
    USART1_CR1 = 1u << 13 | 1u << 3 | 1u << 2; /* enable, transmit, receive (27.6.4) */
}

uint8_t sy_getc(void)
{
    while (!(USART1_SR & RXNE))
        ;
    return (uint8_t)USART1_DR;
}

void sy_putc(uint8_t byte)
{
    while (!(USART1_SR & TXE))
        ;
    USART1_DR = byte;
}

void sy_target_hasten(void)
{
    USART1_BRR = SY_CLOCK_HZ / SY_FAST_BAUD;
}
