/* Structures of many sizes as arguments and results, copied, nested, in arrays; functions that take more
 * arguments than there are registers. */
#include "torture.h"

struct one { uint8_t a; };
struct three { uint8_t a[3]; };
struct eight { uint32_t a; uint16_t b; uint8_t c; };
struct pair { uint64_t a, b; };
struct large { uint32_t a[11]; struct eight e; };

static NOINLINE struct one next_one(struct one v) { v.a = (uint8_t)(v.a * 5u + 1u); return v; }

static NOINLINE struct three turn(struct three v)
{
    struct three r = {{v.a[2], v.a[0], (uint8_t)(v.a[1] ^ 0x5Au)}};
    return r;
}

static NOINLINE struct eight next_eight(struct eight v, uint8_t by)
{
    v.a = v.a * 69069u + by;
    v.b = (uint16_t)(v.b + (v.a >> 16));
    v.c = (uint8_t)(v.c ^ v.b);
    return v;
}

static NOINLINE struct pair swap(struct pair v) { struct pair r = {v.b + 1, v.a ^ v.b}; return r; }

static NOINLINE struct large change(struct large v, struct pair p, struct one o)
{
    for (uint8_t i = 0; i < 11; i++)
        v.a[i] = v.a[(i + 3) % 11] + (uint32_t)p.a + o.a;
    v.e = next_eight(v.e, o.a);
    return v;
}

static NOINLINE uint32_t many(uint8_t a, uint32_t b, uint16_t c, uint64_t d, int8_t e, struct eight f, uint32_t g,
                              uint64_t h, uint8_t i, const struct large *j, uint16_t k)
{
    uint32_t sum = mix(a, b);
    sum = mix64(mix(sum, c), d);
    sum = mix(mix(sum, (uint32_t)(int32_t)e), f.a + f.b + f.c);
    sum = mix64(mix(sum, g), h);
    return mix(mix(sum, i + j->a[k % 11]), k);
}

uint32_t structs(void)
{
    uint32_t sum = 6;
    struct one o[2] = {{7}, {9}};
    struct three t[2] = {{{1, 2, 3}}, {{4, 5, 6}}};
    struct eight e[2] = {{1, 2, 3}, {4, 5, 6}};
    struct pair p[2] = {{0x1122334455667788u, 0x99AABBCCDDEEFF00u}, {1, 2}};
    struct large l = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {12, 13, 14}}, copy;
    for (uint8_t i = 0; i < 10; i++) {
        /* never an argument's own place for the result: msp430-elf-gcc 12.2 lets them overlap */
        uint8_t to = i & 1, from = !to;
        o[to] = next_one(o[from]);
        t[to] = turn(t[from]);
        e[to] = next_eight(e[from], o[to].a);
        p[to] = swap(p[from]);
        copy = l;
        l = change(copy, p[to], o[to]);
        sum = mix(sum, o[to].a | (uint32_t)t[to].a[0] << 8 | (uint32_t)t[to].a[1] << 16 | (uint32_t)t[to].a[2] << 24);
        sum = mix64(sum, p[to].a - p[from].b);
        sum = mix(sum, many(o[to].a, l.a[1], e[0].b, p[to].a, (int8_t)t[to].a[1], e[1], l.a[2], p[0].b, i, &copy,
                            (uint16_t)l.a[3]));
    }
    return mix(sum, l.e.a);
}
