/* The serial port's second rate, for adapters and cables that bear it. The request is one and the same frame, and so is
 * its answer: nothing of main.c is needed for it, whose functions stay as they are. The file's name puts its code after
 * all other, so that it is between none of that and what it calls. */
#include "harness.h"

#ifdef SY_FAST_BAUD
void sy_hasten(void)
{
    volatile uint32_t left = SY_CLOCK_HZ / 4000; /* a millisecond at the least: what a port with a queue needs */
    if (sy_getc() != 0xCC || sy_getc() != 0x95) /* the CRC of 3, 0, 0 */
        return;
    sy_putc(0xA5);
    sy_putc(0x83);
    sy_putc(0);
    sy_putc(0);
    sy_putc(0x7C);
    sy_putc(0x96);
    sy_putc(0xAE);
    while (left)
        left--;
#ifdef __riscv
    __asm__ volatile("nop\n\tnop\n\tnop"); /* all this is a multiple of 8 bytes then, as images are aligned */
#endif
    sy_target_hasten();
}

#ifdef __riscv
void sy_take(uint8_t command, uint16_t length)
{
    if (command == SY_HASTEN && length == 0)
        sy_hasten();
    else
        sy_request(command, length);
}
#endif
#endif
