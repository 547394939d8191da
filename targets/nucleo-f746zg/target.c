/* Vectors, C run-time start, clocks, serial port and trigger pin of the STM32F746 (RM0385 rev 8). */
#include "harness.h"
#include "core/cortex_m_start.h"

#define PWR_CR1 SY_REG(0x40007000u)
#define PWR_CSR1 SY_REG(0x40007004u)
#define RCC_CR SY_REG(0x40023800u)
#define RCC_PLLCFGR SY_REG(0x40023804u)
#define RCC_CFGR SY_REG(0x40023808u)
#define RCC_AHB1ENR SY_REG(0x40023830u)
#define RCC_APB1ENR SY_REG(0x40023840u)
#define FLASH_ACR SY_REG(0x40023C00u)
#define GPIOB_MODER SY_REG(0x40020400u)
#define GPIOD_MODER SY_REG(0x40020C00u)
#define GPIOD_AFRH SY_REG(0x40020C24u)
#define USART3_CR1 SY_REG(0x40004800u)
#define USART3_BRR SY_REG(0x4000480Cu)
#define USART3_ISR SY_REG(0x4000481Cu)
#define USART3_RDR SY_REG(0x40004824u)
#define USART3_TDR SY_REG(0x40004828u)

enum { HSEON = 1u << 16, HSERDY = 1u << 17, HSEBYP = 1u << 18, PLLON = 1u << 24, PLLRDY = 1u << 25 };
enum { OVERDRIVE = 1u << 16, OVERDRIVE_SWITCH = 1u << 17 };
enum { RXNE = 1u << 5, TXE = 1u << 7 };

/* A branch in each of the accelerator's 64 lines of 32 bytes, and each in an entry of its own of a branch target
 * cache that goes by the lower bits of addresses. */
__attribute__((naked, aligned(128), section(".text.sy_settle"))) void sy_settle(void)
{
    /* the next line, and after four of them another place in it; the assembler's true is -1 */
    __asm__ volatile(".set .Lline, 0\n\t"
                     ".rept 64\n\t"
                     ".set .Lline, .Lline + 1\n\t"
                     "b 1f\n\t"
                     ".skip 30 - 2 * (.Lline % 4 == 0)\n"
                     "1:\n\t"
                     ".endr\n\t"
                     "bx lr");
}

void sy_target_init(void)
{
    /* 8 MHz from the debugger / 4 x 216 / 2 = 216 MHz, which needs over-drive (4.1.4); APB1 54, APB2 108 MHz;
     * seven wait states, ART accelerator and prefetch on (3.3.2, 3.7.1); core caches stay off */
    RCC_APB1ENR |= 1u << 28;
    RCC_CR |= HSEBYP;
    RCC_CR |= HSEON;
    while (!(RCC_CR & HSERDY))
        ;
    RCC_PLLCFGR = 9u << 24 | 1u << 22 | 0u << 16 | 216u << 6 | 4u;
    RCC_CR |= PLLON;
    PWR_CR1 |= OVERDRIVE;
    while (!(PWR_CSR1 & OVERDRIVE))
        ;
    PWR_CR1 |= OVERDRIVE_SWITCH;
    while (!(PWR_CSR1 & OVERDRIVE_SWITCH))
        ;
    while (!(RCC_CR & PLLRDY))
        ;
    FLASH_ACR = 1u << 9 | 1u << 8 | 7u;
    RCC_CFGR = 4u << 13 | 5u << 10 | 2u;
    while ((RCC_CFGR >> 2 & 3u) != 2u)
        ;
    RCC_AHB1ENR |= 1u << 3 | 1u << 1; /* ports D and B */
    RCC_APB1ENR |= 1u << 18;          /* USART3 */
    GPIOD_AFRH = 0x77u;               /* PD8, PD9: alternate function 7 */
    GPIOD_MODER = 2u << 18 | 2u << 16;
    GPIOB_MODER = 0x281u; /* PB0 an output, PB3 and PB4 as after reset */
    SY_TRIGGER_LOW();
    USART3_BRR = SY_CLOCK_HZ / 4 / SY_BAUD;
    USART3_CR1 = 1u << 3 | 1u << 2 | 1u << 0; /* transmit, receive, enable (31.8.1) */
}

uint8_t sy_getc(void)
{
    while (!(USART3_ISR & RXNE))
        ;
    return (uint8_t)USART3_RDR;
}

void sy_putc(uint8_t byte)
{
    while (!(USART3_ISR & TXE))
        ;
    USART3_TDR = byte;
}

void sy_target_hasten(void)
{
    USART3_CR1 = 0; /* the divider is locked while it is on (31.8.4) */
    USART3_BRR = SY_CLOCK_HZ / 4 / SY_FAST_BAUD;
    USART3_CR1 = 1u << 3 | 1u << 2 | 1u << 0;
}
