/* Vectors and start of a Cortex-M, for its target.c. No interrupt is used: every exception stops the program where a
 * debugger or the simulator sees it. */
#include "core/start.h"

extern uint8_t sy_stack_top[];
void sy_reset(void);

static void stop(void)
{
    for (;;)
        __asm__ volatile("bkpt 0");
}

void sy_reset(void)
{
    sy_run_main();
    stop();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))sy_stack_top, sy_reset, stop, stop, stop, stop, stop, NULL, NULL, NULL, NULL, stop, stop, NULL,
    stop, stop,
};
