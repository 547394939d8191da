/* Vectors, C run-time start, clocks, serial port and trigger pin of the STM32F103 (RM0008 rev 21). */
#include "harness.h"

#define REG(address) (*(volatile uint32_t *)(address))

#define RCC_CR REG(0x40021000u)
#define RCC_CFGR REG(0x40021004u)
#define RCC_APB2ENR REG(0x40021018u)
#define FLASH_ACR REG(0x40022000u)
#define GPIOA_CRL REG(0x40010800u)
#define GPIOA_CRH REG(0x40010804u)
#define USART1_SR REG(0x40013800u)
#define USART1_DR REG(0x40013804u)
#define USART1_BRR REG(0x40013808u)
#define USART1_CR1 REG(0x4001380Cu)

enum { HSEON = 1u << 16, HSERDY = 1u << 17, PLLON = 1u << 24, PLLRDY = 1u << 25 };
enum { RXNE = 1u << 5, TXE = 1u << 7 };

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

void sy_target_init(void)
{
    /* 8 MHz crystal x 9 = 72 MHz, APB1 at half of it (7.2); two wait states with prefetch (PM0075 3.1) */
    FLASH_ACR = 0x12u;
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
    USART1_BRR = SY_CLOCK_HZ / 115200u;
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
