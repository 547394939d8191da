/* Vectors, C run-time start, clocks, serial port and trigger pin of the STM32F407 (RM0090 rev 19). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define RCC_CR SY_REG(0x40023800u)
#define RCC_PLLCFGR SY_REG(0x40023804u)
#define RCC_CFGR SY_REG(0x40023808u)
#define RCC_AHB1ENR SY_REG(0x40023830u)
#define RCC_APB1ENR SY_REG(0x40023840u)
#define FLASH_ACR SY_REG(0x40023C00u)
#define GPIOA_MODER SY_REG(0x40020000u)
#define GPIOA_AFRL SY_REG(0x40020020u)
#define USART2_SR SY_REG(0x40004400u)
#define USART2_DR SY_REG(0x40004404u)
#define USART2_BRR SY_REG(0x40004408u)
#define USART2_CR1 SY_REG(0x4000440Cu)

enum { HSEON = 1u << 16, HSERDY = 1u << 17, PLLON = 1u << 24, PLLRDY = 1u << 25 };
enum { RXNE = 1u << 5, TXE = 1u << 7 };

void sy_target_init(void)
{
    /* 8 MHz crystal / 8 x 192 / 8 = 24 MHz: no wait state up to 30 MHz (3.5.1), so the core alone counts */
    FLASH_ACR = 0;
    RCC_CR |= HSEON;
    while (!(RCC_CR & HSERDY))
        ;
    RCC_PLLCFGR = 4u << 24 | 1u << 22 | 3u << 16 | 192u << 6 | 8u;
    RCC_CR |= PLLON;
    while (!(RCC_CR & PLLRDY))
        ;
    RCC_CFGR = 2u;
    while ((RCC_CFGR >> 2 & 3u) != 2u)
        ;
    RCC_AHB1ENR |= 1u << 0;                             /* port A */
    RCC_APB1ENR |= 1u << 17;                            /* USART2 */
    GPIOA_AFRL = 7u << 12 | 7u << 8;                    /* PA2, PA3: alternate function 7 */
    GPIOA_MODER = 0xA8000000u | 2u << 6 | 2u << 4 | 1u << 2; /* and PA1 an output */
    SY_TRIGGER_LOW();
    USART2_BRR = SY_CLOCK_HZ / SY_BAUD;
    USART2_CR1 = 1u << 13 | 1u << 3 | 1u << 2; /* enable, transmit, receive (30.6.4) */
}

uint8_t sy_getc(void)
{
    while (!(USART2_SR & RXNE))
        ;
    return (uint8_t)USART2_DR;
}

void sy_putc(uint8_t byte)
{
    while (!(USART2_SR & TXE))
        ;
    USART2_DR = byte;
}

void sy_target_hasten(void)
{
    USART2_BRR = SY_CLOCK_HZ / SY_FAST_BAUD;
}
