/* Serial line from flash: requests come out of sy_replay, answers go into a checksum. The image is
 * linked with --wrap, so the harness and the target's own file are the measured ones. */
#include "harness.h"

#ifdef __AVR__
#include <avr/pgmspace.h>
#define BYTE(p) pgm_read_byte(p)
#else
#define BYTE(p) (*(p))
#endif

extern const uint8_t sy_replay[], sy_replay_end[];
uint8_t __wrap_sy_getc(void);
void __wrap_sy_putc(uint8_t byte);
void __wrap_sy_target_init(void);

#ifndef ROUNDS
#define ROUNDS 1
#endif

volatile uint32_t sy_replay_sum;
static uint32_t rounds = ROUNDS;
static const uint8_t *next = sy_replay;

static void stop(void)
{
#ifdef __AVR__
    __asm__ volatile("cli\n\tsleep");
#else
    /* semihosting SYS_EXIT, ADP_Stopped_ApplicationExit */
    __asm__ volatile("mov r0, #0x18\n\tldr r1, =0x20026\n\tbkpt 0xab" : : : "r0", "r1");
#endif
    for (;;)
        ;
}

uint8_t __wrap_sy_getc(void)
{
    if (next == sy_replay_end) {
        if (--rounds == 0)
            stop();
        next = sy_replay;
    }
    return BYTE(next++);
}

void __wrap_sy_putc(uint8_t byte)
{
    sy_replay_sum = (sy_replay_sum << 5 | sy_replay_sum >> 27) + byte;
}

void __wrap_sy_target_init(void)
{
#ifdef __AVR__
    DDRB |= _BV(DDB5);
#endif
}
