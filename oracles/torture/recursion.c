/* Recursion: deep, double, mutual, through pointers, with arrays on the stack. */
#include "torture.h"

static NOINLINE uint32_t ackermann(uint8_t m, uint16_t n)
{
    if (m == 0)
        return n + 1u;
    return ackermann((uint8_t)(m - 1), n == 0 ? 1u : (uint16_t)ackermann(m, (uint16_t)(n - 1)));
}

static NOINLINE uint32_t sum_to(uint8_t n, uint8_t *trail)
{
    uint8_t own[5];
    for (uint8_t i = 0; i < sizeof own; i++)
        own[i] = (uint8_t)(n * i + trail[i % 3]);
    return n == 0 ? own[4] : own[n % 5] + 3u * sum_to((uint8_t)(n - 1), own);
}

static uint8_t odd(uint8_t n);
static NOINLINE uint8_t even(uint8_t n) { return n == 0 ? 1 : odd((uint8_t)(n - 1)); }
static NOINLINE uint8_t odd(uint8_t n) { return n == 0 ? 0 : even((uint8_t)(n - 1)); }

typedef uint32_t (*step)(uint8_t, const void *);
static NOINLINE uint32_t leaf(uint8_t n, const void *to) { (void)to; return n * 17u; }
static NOINLINE uint32_t node(uint8_t n, const void *to)
{
    const step *steps = (const step *)to;
    return n < 2 ? leaf(n, to) : steps[n & 1]((uint8_t)(n - 1), to) + 2u * steps[1]((uint8_t)(n / 2), to);
}

uint32_t recursion(void)
{
    const step steps[2] = {node, node}, other[2] = {node, leaf};
    uint8_t trail[3] = {3, 1, 4};
    uint32_t sum = 9;
    sum = mix(sum, ackermann(2, 3));
    sum = mix(sum, sum_to(14, trail));
    sum = mix(sum, even(OPAQUE(uint8_t, 13)) + 2u * odd(OPAQUE(uint8_t, 13)));
    sum = mix(sum, node(9, steps));
    return mix(sum, node(9, other));
}
