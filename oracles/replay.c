/* Serial line from flash: requests come out of sy_replay, answers go into a checksum. The image is
 * linked with --wrap, so the harness and the target's own file are the measured ones. */
#include "end.h"

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

uint8_t __wrap_sy_getc(void)
{
    if (next == sy_replay_end) {
        if (--rounds == 0)
            sy_end(sy_replay_sum);
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
    sy_begin();
}
