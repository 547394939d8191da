/* 64-bit arithmetic, and 32 bits by 32 bits to 64. */
#include "torture.h"

static const uint64_t values[] = {
    0, 1, 0xFFFFFFFFu, 0x100000000u, 0x7FFFFFFFFFFFFFFFu, 0x8000000000000000u, 0xFFFFFFFFFFFFFFFFu,
    0x0123456789ABCDEFu,
};
enum { COUNT = sizeof values / sizeof *values };

static NOINLINE uint64_t carry(uint64_t a, uint64_t b, uint32_t *out)
{
    uint64_t sum = a + b;
    *out = sum < a;
    return sum;
}

static NOINLINE uint64_t product(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
static NOINLINE int64_t signed_product(int32_t a, int32_t b) { return (int64_t)a * b; }

uint32_t wide(void)
{
    uint32_t sum = 2, over;
    uint8_t n = OPAQUE(uint8_t, COUNT); /* not to be unrolled */
    for (uint8_t i = 0; i < n; i++) {
        for (uint8_t j = 0; j < n; j += 3) {
            uint64_t a = values[i], b = values[j];
            sum = mix64(sum, carry(a, b, &over));
            sum = mix64(sum, a - b - over);
            sum = mix64(sum, (a & b) ^ (a | ~b));
            sum = mix64(sum, product((uint32_t)a, (uint32_t)(b >> 3)));
            sum = mix64(sum, (uint64_t)signed_product((int32_t)(a >> 32), (int32_t)b));
            sum = mix(sum, (uint32_t)(a < b) | (uint32_t)((int64_t)a < (int64_t)b) << 1 | (uint32_t)(a == b) << 2);
        }
        sum = mix64(sum, values[i] * 0x100000001B3u);
        sum = mix64(sum, -values[i] + 5u);
        sum = mix64(sum, (values[i] << 13 | values[i] >> 51) ^ values[i] >> 32);
    }
    return sum;
}
