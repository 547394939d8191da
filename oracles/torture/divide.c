/* Division and remainder of every width and sign, by variables and by constants. */
#include "torture.h"

static const int32_t values[] = {1, -1, 3, -7, 10, 255, -256, 1000, 32767, -32768, 65537, 0x7FFFFFFF, -0x7FFFFFFF};
enum { COUNT = sizeof values / sizeof *values };

static NOINLINE uint32_t by_constants(uint32_t v)
{
    int32_t s = (int32_t)v;
    uint32_t sum = mix(v / 10, v % 10);
    sum = mix(sum, v / 7 + v % 641);
    sum = mix(sum, (uint32_t)(s / 3) ^ (uint32_t)(s % 5));
    sum = mix(sum, (uint32_t)(s / 16) ^ (uint32_t)(s % 16));
    sum = mix(sum, (uint32_t)(s / -9) + v / 65521);
    sum = mix(sum, (uint8_t)v / 11 + (uint16_t)v / 100u);
    return sum;
}

uint32_t divide(void)
{
    uint32_t sum = 4;
    for (uint8_t i = 0; i < COUNT; i++) {
        int32_t a = OPAQUE(int32_t, values[i]);
        sum = mix(sum, by_constants((uint32_t)a * 2654435761u));
        for (uint8_t j = 0; j < COUNT; j += 2) {
            int32_t b = OPAQUE(int32_t, values[j]);
            sum = mix(sum, (uint32_t)(a / b));
            sum = mix(sum, (uint32_t)(a % b));
            sum = mix(sum, (uint32_t)a / (uint32_t)b);
            sum = mix(sum, (uint32_t)a % (uint32_t)b);
            if ((int16_t)b != 0)
                sum = mix(sum, (uint32_t)(int32_t)((int16_t)(a >> 3) / (int16_t)b));
            if ((uint8_t)b != 0)
                sum = mix(sum, (uint32_t)((uint8_t)a % (uint8_t)b));
            if (j % 4 == 0) {
                int64_t wide = (int64_t)a * 0x10000001 + j;
                sum = mix64(sum, (uint64_t)(wide / b));
                sum = mix64(sum, (uint64_t)(wide % b));
                sum = mix64(sum, (uint64_t)wide / (uint64_t)(uint32_t)b);
            }
        }
    }
    return sum;
}
