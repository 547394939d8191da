/* What the compiler for the ESP8266 calls when it makes code for the ESP32: its own library has no register
 * windows. Division and long products are the core's instructions, one call away; Espressif's compiler, which has
 * no use for this file, puts them in place. */
#ifdef SY_WINDOWED_BY_HAND
#include <stddef.h>
#include <stdint.h>

uint32_t __udivsi3(uint32_t x, uint32_t y);
uint32_t __umodsi3(uint32_t x, uint32_t y);
int32_t __divsi3(int32_t x, int32_t y);
int32_t __modsi3(int32_t x, int32_t y);
uint64_t __umulsidi3(uint32_t x, uint32_t y);
uint64_t __muldi3(uint64_t x, uint64_t y);
uint64_t __udivdi3(uint64_t x, uint64_t y);
uint64_t __umoddi3(uint64_t x, uint64_t y);
int64_t __divdi3(int64_t x, int64_t y);
int64_t __moddi3(int64_t x, int64_t y);
uint64_t __ashldi3(uint64_t x, int n);
uint64_t __lshrdi3(uint64_t x, int n);
int64_t __ashrdi3(int64_t x, int n);
uint32_t __bswapsi2(uint32_t x);
uint64_t __bswapdi2(uint64_t x);
int __popcountsi2(uint32_t x);
int __popcountdi2(uint64_t x);
int __clzdi2(uint64_t x);
int __ctzdi2(uint64_t x);
int __ucmpdi2(uint64_t x, uint64_t y);
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
extern int errno; /* as its errno.h declares it */

int errno;

union wide {
    uint64_t all;
    int64_t sign;
    struct {
        uint32_t low, high;
    } part;
};

#define CORE(op, r, x, y) __asm__(op " %0, %1, %2" : "=r"(r) : "r"(x), "r"(y))

uint32_t __udivsi3(uint32_t x, uint32_t y)
{
    uint32_t r;
    CORE("quou", r, x, y);
    return r;
}

uint32_t __umodsi3(uint32_t x, uint32_t y)
{
    uint32_t r;
    CORE("remu", r, x, y);
    return r;
}

int32_t __divsi3(int32_t x, int32_t y)
{
    int32_t r;
    CORE("quos", r, x, y);
    return r;
}

int32_t __modsi3(int32_t x, int32_t y)
{
    int32_t r;
    CORE("rems", r, x, y);
    return r;
}

uint64_t __umulsidi3(uint32_t x, uint32_t y)
{
    union wide w;
    w.part.low = x * y;
    CORE("muluh", w.part.high, x, y);
    return w.all;
}

uint64_t __muldi3(uint64_t x, uint64_t y)
{
    union wide p = {x}, q = {y}, w;
    w.part.low = p.part.low * q.part.low;
    CORE("muluh", w.part.high, p.part.low, q.part.low);
    w.part.high += p.part.low * q.part.high + p.part.high * q.part.low;
    return w.all;
}

static uint64_t divide(uint64_t x, uint64_t y, uint64_t *rest)
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
    return divide(x, y, &rest);
}

uint64_t __umoddi3(uint64_t x, uint64_t y)
{
    uint64_t rest;
    (void)divide(x, y, &rest);
    return rest;
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0u - (uint64_t)x : (uint64_t)x;
}

int64_t __divdi3(int64_t x, int64_t y)
{
    uint64_t rest, q = divide(magnitude(x), magnitude(y), &rest);
    return (int64_t)((x ^ y) < 0 ? 0u - q : q);
}

int64_t __moddi3(int64_t x, int64_t y)
{
    uint64_t rest;
    (void)divide(magnitude(x), magnitude(y), &rest);
    return (int64_t)(x < 0 ? 0u - rest : rest);
}

uint64_t __ashldi3(uint64_t x, int n)
{
    union wide w = {x};
    if (n >= 32) {
        w.part.high = w.part.low << (n - 32);
        w.part.low = 0;
    } else if (n > 0) {
        w.part.high = w.part.high << n | w.part.low >> (32 - n);
        w.part.low <<= n;
    }
    return w.all;
}

uint64_t __lshrdi3(uint64_t x, int n)
{
    union wide w = {x};
    if (n >= 32) {
        w.part.low = w.part.high >> (n - 32);
        w.part.high = 0;
    } else if (n > 0) {
        w.part.low = w.part.low >> n | w.part.high << (32 - n);
        w.part.high >>= n;
    }
    return w.all;
}

int64_t __ashrdi3(int64_t x, int n)
{
    union wide w;
    int32_t high;
    w.sign = x;
    high = (int32_t)w.part.high;
    if (n >= 32) {
        w.part.low = (uint32_t)(high >> (n - 32));
        w.part.high = (uint32_t)(high >> 31);
    } else if (n > 0) {
        w.part.low = w.part.low >> n | w.part.high << (32 - n);
        w.part.high = (uint32_t)(high >> n);
    }
    return w.sign;
}

uint32_t __bswapsi2(uint32_t x)
{
    return x << 24 | (x & 0xFF00u) << 8 | (x >> 8 & 0xFF00u) | x >> 24;
}

uint64_t __bswapdi2(uint64_t x)
{
    union wide p = {x}, w;
    w.part.low = __bswapsi2(p.part.high);
    w.part.high = __bswapsi2(p.part.low);
    return w.all;
}

int __popcountsi2(uint32_t x)
{
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

int __popcountdi2(uint64_t x)
{
    return __popcountsi2((uint32_t)x) + __popcountsi2((uint32_t)(x >> 32));
}

int __clzdi2(uint64_t x)
{
    union wide w = {x};
    return w.part.high ? __builtin_clz(w.part.high) : 32 + __builtin_clz(w.part.low);
}

int __ctzdi2(uint64_t x)
{
    union wide w = {x};
    return w.part.low ? __builtin_ctz(w.part.low) : 32 + __builtin_ctz(w.part.high);
}

int __ucmpdi2(uint64_t x, uint64_t y)
{
    return x < y ? 0 : x > y ? 2 : 1;
}

void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *d = to;
    const uint8_t *s = from;
    if (d < s) {
        if ((((uintptr_t)d | (uintptr_t)s) & 3u) == 0)
            for (; n >= 4; n -= 4, d += 4, s += 4)
                *(uint32_t *)d = *(const uint32_t *)s;
        while (n--)
            *d++ = *s++;
    } else {
        while (n--)
            d[n] = s[n];
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
    uint8_t *d = to;
    const uint8_t *s = from;
    if ((((uintptr_t)d | (uintptr_t)s) & 3u) == 0)
        for (; n >= 4; n -= 4, d += 4, s += 4)
            *(uint32_t *)d = *(const uint32_t *)s;
    while (n--)
        *d++ = *s++;
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    uint8_t *d = to;
    uint32_t word = (uint8_t)byte * 0x01010101u;
    for (; n > 0 && ((uintptr_t)d & 3u) != 0; n--)
        *d++ = (uint8_t)byte;
    for (; n >= 4; n -= 4, d += 4)
        *(uint32_t *)d = word;
    while (n--)
        *d++ = (uint8_t)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    for (; n > 0; n--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}
#endif
