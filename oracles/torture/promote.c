/* Integer promotion, conversion, sign extension, comparison across signs. */
#include "torture.h"

static const int32_t values[] = {
    0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536,
    0x7FFFFFFF, (int32_t)0x80000000, 0x12345678, (int32_t)0x89ABCDEF,
};
enum { COUNT = sizeof values / sizeof *values };

static NOINLINE int8_t to_s8(int32_t v) { return (int8_t)v; }
static NOINLINE uint8_t to_u8(int32_t v) { return (uint8_t)v; }
static NOINLINE int16_t to_s16(int32_t v) { return (int16_t)v; }
static NOINLINE uint16_t to_u16(int32_t v) { return (uint16_t)v; }
static NOINLINE int64_t from_s32(int32_t v) { return v; }
static NOINLINE int64_t from_u32(uint32_t v) { return v; }
static NOINLINE uint32_t lowest(uint64_t v) { return (uint32_t)v; }

uint32_t promote(void)
{
    uint32_t sum = 1;
    for (uint8_t i = 0; i < COUNT; i++) {
        int32_t v = OPAQUE(int32_t, values[i]);
        int8_t a = to_s8(v);
        uint8_t b = to_u8(v);
        int16_t c = to_s16(v);
        uint16_t d = to_u16(v);
        sum = mix(sum, (uint32_t)(int32_t)a + b);
        sum = mix(sum, (uint32_t)(int32_t)c ^ d);
        sum = mix(sum, (uint32_t)(a < b) | (uint32_t)(c < d) << 1 | (uint32_t)(a == c) << 2);
        sum = mix(sum, (uint32_t)(v < 0) | (uint32_t)((uint32_t)v > 0x8000u) << 1);
        sum = mix(sum, (uint8_t)(b + 200u) | (uint32_t)(uint16_t)(d * 3u) << 8);
        sum = mix(sum, (uint32_t)(int32_t)(int8_t)(a * 2) ^ (uint8_t)~b);
        sum = mix64(sum, (uint64_t)from_s32(v));
        sum = mix64(sum, (uint64_t)from_u32((uint32_t)v));
        sum = mix(sum, lowest((uint64_t)from_s32(v) >> 16));
        for (uint8_t j = 0; j < COUNT; j += 5) {
            int32_t w = OPAQUE(int32_t, values[j]);
            sum = mix(sum, (uint32_t)(v < w) | (uint32_t)((uint32_t)v < (uint32_t)w) << 1
                               | (uint32_t)((int16_t)v <= (int16_t)w) << 2 | (uint32_t)((uint8_t)v >= (uint8_t)w) << 3
                               | (uint32_t)((int64_t)v > (int64_t)(uint32_t)w) << 4);
        }
    }
    return sum;
}
