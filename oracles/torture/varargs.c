/* Arguments without names: all widths mixed, walked twice, handed on. */
#include <stdarg.h>

#include "torture.h"

static NOINLINE uint32_t walk(const char *kinds, va_list args)
{
    uint32_t sum = 0;
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i':
            sum = mix(sum, (uint32_t)(int32_t)va_arg(args, int));
            break;
        case 'u':
            sum = mix(sum, va_arg(args, uint32_t));
            break;
        case 'l':
            sum = mix64(sum, va_arg(args, uint64_t));
            break;
        case 'p':
            sum = mix(sum, *va_arg(args, const uint16_t *));
            break;
        default:
            return ~sum;
        }
    }
    return sum;
}

static NOINLINE uint32_t call(const char *kinds, ...)
{
    va_list args, again;
    va_start(args, kinds);
    va_copy(again, args);
    uint32_t sum = walk(kinds, args);
    sum = mix(sum, walk(kinds, again));
    va_end(again);
    va_end(args);
    return sum;
}

uint32_t varargs(void)
{
    uint32_t sum = 7;
    uint16_t place = 0xBEEF;
    for (uint8_t i = 0; i < 6; i++) {
        uint32_t u = 0xDEADBEEFu * (i + 1u);
        uint64_t l = (uint64_t)u << 17 ^ i;
        place = (uint16_t)(place + u);
        sum = mix(sum, call("iul", -5 - i, u, l));
        sum = mix(sum, call("lliup", l, ~l, i, u, &place));
        sum = mix(sum, call("iiiiiiil", 1, -2, 3, -4, 5, -6, i, l));
        sum = mix(sum, call("ulululpi", u, l, u + 1, l + 1, u + 2, l + 2, &place, -1));
        sum = mix(sum, call(""));
    }
    return sum;
}
