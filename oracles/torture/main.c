/* Runs them all, the trigger up around each. */
#include "torture.h"

#ifdef HOST
#include <stdio.h>
#define SY_TRIGGER_HIGH() (void)0
#define SY_TRIGGER_LOW() (void)0
#define BEGIN() (void)0
#define END(sum) printf("%08x\n", (unsigned)(sum))
#else
#include "../end.h"
#define BEGIN() sy_begin()
#define END(sum) sy_end(sum)
#endif

static uint32_t (*const all[])(void) = {
    promote, wide, shifts, divide, bitfields, structs, varargs,
    switches, recursion, blocks, jumps, narrow, pointers, registers,
};

int main(void)
{
    uint32_t sum = 0;
    BEGIN();
    for (uint8_t i = 0; i < sizeof all / sizeof *all; i++) {
        SY_TRIGGER_HIGH();
        uint32_t one = all[i]();
        SY_TRIGGER_LOW();
        sum = mix(sum, one);
    }
    END(sum);
    return 0;
}
