/* C run-time start, clock, serial port and trigger pin of the CH32V003 (CH32V003RM, chapters "RCC", "GPIO and AFIO",
 * "USART" and "SysTick"). */
#include "harness.h"
#include "core/start.h"

#define RCC_CFGR0 SY_REG(0x40021004u)
#define RCC_APB2PCENR SY_REG(0x40021018u)
#define GPIOC_CFGLR SY_REG(0x40011000u)
#define GPIOD_CFGLR SY_REG(0x40011400u)
#define USART1_STATR SY_REG(0x40013800u)
#define USART1_DATAR SY_REG(0x40013804u)
#define USART1_BRR SY_REG(0x40013808u)
#define USART1_CTLR1 SY_REG(0x4001380Cu)

enum { RXNE = 1u << 5, TXE = 1u << 7 };

void sy_start(void);

void sy_start(void)
{
    sy_run_main();
    for (;;)
        __asm__ volatile("ebreak");
}

void sy_target_init(void)
{
    RCC_CFGR0 = 0; /* the oscillator of 24 MHz, which is divided by 3 after reset; flash has no wait states then */
    RCC_APB2PCENR |= 1u << 14 | 1u << 5 | 1u << 4; /* USART1, ports D and C */
    GPIOC_CFGLR = 0x44434444u;                     /* PC4: push-pull output, 50 MHz */
    GPIOD_CFGLR = 0x44B44444u;                     /* PD5: alternate push-pull; PD6: floating input */
    SY_TRIGGER_LOW();
    USART1_BRR = (SY_CLOCK_HZ + SY_BAUD / 2) / SY_BAUD;
    USART1_CTLR1 = 1u << 13 | 1u << 3 | 1u << 2; /* enable, transmit, receive */
}

uint8_t sy_getc(void)
{
    while (!(USART1_STATR & RXNE))
        ;
    return (uint8_t)USART1_DATAR;
}

void sy_putc(uint8_t byte)
{
    while (!(USART1_STATR & TXE))
        ;
    USART1_DATAR = byte;
}

void sy_target_hasten(void)
{
    USART1_BRR = SY_CLOCK_HZ / SY_FAST_BAUD;
}
