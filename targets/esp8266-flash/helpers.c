/* Arithmetic helpers that the compiler calls and its libgcc leaves out, because on the ESP8266 the boot
 * ROM has them. An image that stands alone brings its own. */
#include <stdint.h>

uint32_t __udivsi3(uint32_t x, uint32_t y);
uint32_t __umodsi3(uint32_t x, uint32_t y);
int32_t __divsi3(int32_t x, int32_t y);
uint64_t __umulsidi3(uint32_t x, uint32_t y);
uint64_t __muldi3(uint64_t x, uint64_t y);
uint64_t __udivdi3(uint64_t x, uint64_t y);
uint64_t __umoddi3(uint64_t x, uint64_t y);
int64_t __divdi3(int64_t x, int64_t y);

struct division {
    uint32_t quotient, rest;
};

/* Division by 0 traps, as it does where the processor divides. */
static struct division divide(uint32_t x, uint32_t y)
{
    struct division d = {0, x};
    int shift;
    if (y == 0)
        __builtin_trap();
    if (x < y)
        return d;
    shift = __builtin_clz(y) - __builtin_clz(x);
    for (y <<= shift; shift >= 0; shift--, y >>= 1) {
        d.quotient <<= 1;
        if (d.rest >= y) {
            d.rest -= y;
            d.quotient |= 1;
        }
    }
    return d;
}

uint32_t __udivsi3(uint32_t x, uint32_t y)
{
    return divide(x, y).quotient;
}

uint32_t __umodsi3(uint32_t x, uint32_t y)
{
    return divide(x, y).rest;
}

int32_t __divsi3(int32_t x, int32_t y)
{
    uint32_t q = divide(x < 0 ? 0u - (uint32_t)x : (uint32_t)x, y < 0 ? 0u - (uint32_t)y : (uint32_t)y).quotient;
    return (int32_t)((x ^ y) < 0 ? 0u - q : q);
}

union wide {
    uint64_t all;
    struct {
        uint32_t low, high;
    } part;
};

uint64_t __umulsidi3(uint32_t x, uint32_t y)
{
    uint32_t low = (x & 0xFFFFu) * (y & 0xFFFFu), high = (x >> 16) * (y >> 16);
    uint32_t a = (x >> 16) * (y & 0xFFFFu), b = (x & 0xFFFFu) * (y >> 16);
    union wide w;
    a += low >> 16; /* cannot overflow */
    b += a & 0xFFFFu;
    w.part.low = b << 16 | (low & 0xFFFFu);
    w.part.high = high + (a >> 16) + (b >> 16);
    return w.all;
}

uint64_t __muldi3(uint64_t x, uint64_t y)
{
    union wide p = {x}, q = {y}, w;
    w.all = __umulsidi3(p.part.low, q.part.low);
    w.part.high += p.part.low * q.part.high + p.part.high * q.part.low;
    return w.all;
}

static uint64_t divide_wide(uint64_t x, uint64_t y, uint64_t *rest)
{
    uint64_t quotient = 0;
    int bit = 0;
    if (y == 0)
        __builtin_trap();
    while (y < x && !(y >> 63)) {
        y <<= 1;
        bit++;
    }
    for (; bit >= 0; bit--, y >>= 1) {
        quotient <<= 1;
        if (x >= y) {
            x -= y;
            quotient |= 1;
        }
    }
    *rest = x;
    return quotient;
}

uint64_t __udivdi3(uint64_t x, uint64_t y)
{
    uint64_t rest;
    return divide_wide(x, y, &rest);
}

uint64_t __umoddi3(uint64_t x, uint64_t y)
{
    uint64_t rest;
    (void)divide_wide(x, y, &rest);
    return rest;
}

int64_t __divdi3(int64_t x, int64_t y)
{
    uint64_t rest;
    uint64_t q = divide_wide(x < 0 ? 0u - (uint64_t)x : (uint64_t)x, y < 0 ? 0u - (uint64_t)y : (uint64_t)y, &rest);
    return (int64_t)((x ^ y) < 0 ? 0u - q : q);
}
