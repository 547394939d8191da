/* setjmp and longjmp: out of nested calls, more than once, with values that must survive. */
#include "torture.h"

/* declared here: not every target has the header; the buffer is larger than any library's */
typedef uint64_t buffer[32];
int setjmp(buffer) __attribute__((returns_twice));
void longjmp(buffer, int) __attribute__((noreturn));

static buffer outer, inner;

static NOINLINE uint32_t dive(uint8_t depth, uint8_t limit)
{
    volatile uint32_t own = depth * 3u;
    if (depth > 20)
        return own;
    if (depth == limit)
        longjmp(limit & 1 ? outer : inner, limit);
    return dive((uint8_t)(depth + 1), limit) + own;
}

uint32_t jumps(void)
{
    volatile uint32_t sum = 11;
    volatile uint8_t limit = 0;
    int came = setjmp(outer);
    sum = mix(sum, (uint32_t)came);
    if (limit < 9) {
        limit++;
        int again = setjmp(inner);
        sum = mix(sum, 0x100u + (uint32_t)again);
        if (again != 0)
            limit++;
        sum = mix(sum, dive(0, limit));
    }
    return sum;
}
