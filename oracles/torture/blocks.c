/* memcpy, memmove, memset, memcmp at all alignments; copies of known size; overlap in both directions. */
#include "torture.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static uint8_t a[48], b[48];

static NOINLINE uint32_t digest(const uint8_t *p, uint8_t n)
{
    uint32_t sum = n;
    while (n--)
        sum = sum * 31 + *p++;
    return sum;
}

static NOINLINE uint32_t load(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static NOINLINE void store(uint8_t *p, uint64_t v) { memcpy(p, &v, sizeof v); }

uint32_t blocks(void)
{
    uint32_t sum = 10;
    for (uint8_t i = 0; i < sizeof a; i++) {
        a[i] = (uint8_t)(i * 73u + 5u);
        b[i] = (uint8_t)(i ^ 0x3Cu);
    }
    for (uint8_t from = 0; from < 4; from++) {
        for (uint8_t to = 0; to < 4; to++) {
            uint8_t n = OPAQUE(uint8_t, (uint8_t)(3 + 5 * from + 2 * to));
            memcpy(b + to, a + from, n);
            memset(b + 30 + to, from + 0x80, n / 2u);
            memmove(b + 8 + to, b + 5 + from, n);
            memmove(b + 5 + from, b + 8 + to, n);
            int order = memcmp(a + from, b + to, n);
            sum = mix(sum, digest(b, sizeof b) + (order > 0 ? 1u : order < 0 ? 2u : 0u));
        }
        store(b + 9 + from, 0x0102030405060708u * (from + 1u));
        sum = mix(sum, load(b + 7 + from) ^ load(b + 11 + from));
    }
    return mix(sum, digest(a, sizeof a));
}
