/* Bit-fields of every size and sign, alone and across the borders of words. Where they are wider than int, compilers
 * differ in whether they compute in the field's width or in its type, so they are converted first. */
#include "torture.h"

struct fields {
    uint32_t a : 1;
    int32_t b : 3;
    uint32_t c : 7;
    int32_t d : 13;
    uint32_t e : 8;
    uint32_t f : 31;
    int32_t g : 2;
    uint32_t h : 17;
    int32_t i : 32;
};

struct __attribute__((packed)) tight {
    uint8_t head;
    uint32_t x : 5;
    uint32_t y : 22;
    uint32_t z : 21;
};

static NOINLINE void set(struct fields *s, uint32_t v)
{
    s->a = v & 1;
    s->b = (int32_t)(v % 8) - 4;
    s->c = v >> 3 & 127;
    s->d = (int32_t)(v % 8192) - 4096;
    s->e = v >> 24;
    s->f = v & 0x7FFFFFFF;
    s->g = (int32_t)(v % 4) - 2;
    s->h = v >> 15;
    s->i = (int32_t)(v * 5);
}

static NOINLINE uint32_t get(const struct fields *s)
{
    uint32_t sum = s->a;
    sum = mix(sum, (uint32_t)(int32_t)s->b);
    sum = mix(sum, s->c);
    sum = mix(sum, (uint32_t)(int32_t)s->d);
    sum = mix(sum, (uint32_t)s->e + (uint32_t)s->f);
    sum = mix(sum, (uint32_t)(int32_t)s->g);
    sum = mix(sum, s->h);
    return mix(sum, (uint32_t)s->i);
}

uint32_t bitfields(void)
{
    uint32_t sum = 5, v = 0xC0FFEE11u;
    struct fields s = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct tight t[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    for (uint8_t i = 0; i < 24; i++) {
        set(&s, v);
        sum = mix(sum, get(&s));
        s.c += 100;
        s.d -= 3000;
        s.g++;
        s.f = (uint32_t)s.f >> 1 ^ (uint32_t)s.h;
        sum = mix(sum, get(&s));
        t[i % 3].x += v;
        t[i % 3].y ^= v >> 4;
        t[(i + 1) % 3].z -= t[i % 3].y;
        sum = mix(sum, t[i % 3].head + (uint32_t)t[i % 3].x + (uint32_t)t[i % 3].y + (uint32_t)t[(i + 1) % 3].z);
        v = v * 1664525u + 1013904223u;
    }
    return sum;
}
