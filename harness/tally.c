/* What the chip's counter had after a call. Apart from main.c: with this in it, its frame would be larger on some chips
 * and leave calls less RAM, and its code would be farther from what it calls. */
#include "harness.h"

void sy_keep_count(void)
{
    sy_layout[SY_COUNTED] = (void *)(uintptr_t)SY_COUNT();
}

void sy_put_count(void (*put16)(uint16_t))
{
    uint32_t counted = (uint32_t)(uintptr_t)sy_layout[SY_COUNTED];
    put16((uint16_t)counted);
    put16((uint16_t)(counted >> 16));
}
