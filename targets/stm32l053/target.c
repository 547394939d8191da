/* Vectors, C run-time start, clocks, serial port and trigger pin of the STM32L053 (RM0367 rev 8). */
#include "harness.h"

#define REG(address) (*(volatile uint32_t *)(address))

#define PWR_CR REG(0x40007000u)
#define PWR_CSR REG(0x40007004u)
#define RCC_CR REG(0x40021000u)
#define RCC_CFGR REG(0x4002100Cu)
#define RCC_IOPENR REG(0x4002102Cu)
#define RCC_APB1ENR REG(0x40021038u)
#define FLASH_ACR REG(0x40022000u)
#define GPIOA_MODER REG(0x50000000u)
#define GPIOA_AFRL REG(0x50000020u)
#define USART2_CR1 REG(0x40004400u)
#define USART2_BRR REG(0x4000440Cu)
#define USART2_ISR REG(0x4000441Cu)
#define USART2_RDR REG(0x40004424u)
#define USART2_TDR REG(0x40004428u)

enum { HSI16ON = 1u << 0, HSI16RDYF = 1u << 2, PLLON = 1u << 24, PLLRDY = 1u << 25, VOSF = 1u << 4 };
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
    USART2_BRR = (SY_CLOCK_HZ / 57600u + 1) / 2;
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
