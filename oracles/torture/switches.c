/* Switches as tables, as trees, with holes, on wide and negative values; computed goto; loops with several
 * ways out. */
#include "torture.h"

static NOINLINE uint32_t dense(uint8_t v)
{
    switch (v) {
    case 0: return 11;
    case 1: return 0x80;
    case 2: v += 7; /* fall through */
    case 3: return v * 3u;
    case 4: return 1u << v;
    case 5: return 99;
    case 6: return v ^ 0xA5u;
    case 7: return 7;
    case 9: return 0xFFFFFFFFu;
    case 10: return 10;
    case 11: return v + 1u;
    default: return 0;
    }
}

static NOINLINE uint32_t sparse(int32_t v)
{
    switch (v) {
    case -100000: return 1;
    case -129: return 2;
    case -1: return 3;
    case 0: return 4;
    case 77: return 5;
    case 300 ... 310: return 6;
    case 65536: return 7;
    case 0x7FFFFFFF: return 8;
    default: return 9;
    }
}

static NOINLINE uint32_t machine(const uint8_t *code)
{
    static const void *const steps[] = {&&add, &&twice, &&flip, &&back, &&done};
    uint32_t v = 1, left = 20;
#define NEXT goto *steps[*code++ % 5u]
    NEXT;
add:
    v += 0x1234;
    NEXT;
twice:
    v *= 2;
    NEXT;
flip:
    v = ~v;
    NEXT;
back:
    if (left-- > 10)
        code -= 2;
    NEXT;
done:
    return mix(v, left);
}

uint32_t switches(void)
{
    static const int32_t keys[] = {-100000, -129, -128, -1, 0, 1, 77, 299, 305, 310, 311, 65536, 0x7FFFFFFF};
    static const uint8_t code[] = {0, 1, 2, 3, 0, 1, 1, 2, 0, 3, 4};
    uint32_t sum = 8;
    uint8_t n = OPAQUE(uint8_t, 16); /* not to be unrolled */
    for (uint8_t i = 0; i < n; i++)
        sum = mix(sum, dense(i));
    for (uint8_t i = 0; i < n - 3; i++)
        sum = mix(sum, sparse(OPAQUE(int32_t, keys[i])));
    for (uint8_t i = 0; i < 60; i++) {
        uint8_t v = (uint8_t)(i * 37u);
        if (v % 3 == 0)
            continue;
        while (v > 20) {
            v -= 13;
            if (v == 29)
                break;
        }
        if (v == 17)
            goto out;
        sum = mix(sum, v);
    }
out:
    return mix(sum, machine(code));
}
