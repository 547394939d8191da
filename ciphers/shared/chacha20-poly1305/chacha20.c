/*
 * ChaCha20.
 */
#include "chacha20.h"
#include "rotate32.h"

/* Words of small cores are in memory between the operations, and a call saves
 * much code there. */
#if UINTPTR_MAX <= 0xFFFFF
#define QUARTER static __attribute__((noinline))
#else
#define QUARTER static inline
#endif

QUARTER void quarter_round(uint32_t *pa, uint32_t *pb, uint32_t *pc,
                           uint32_t *pd)
{
    uint32_t a = *pa, b = *pb, c = *pc, d = *pd;

    a += b;
    d = rotl32(d ^ a, 16);
    c += d;
    b = rotl32(b ^ c, 12);
    a += b;
    d = rotl32(d ^ a, 8);
    c += d;
    b = rotl32(b ^ c, 7);
    *pa = a;
    *pb = b;
    *pc = c;
    *pd = d;
}

void chacha20_start(chacha20 *s, const uint8_t *k, const uint8_t *npub)
{
    uint8_t i;

    s->start[0] = 0x61707865;
    s->start[1] = 0x3320646E;
    s->start[2] = 0x79622D32;
    s->start[3] = 0x6B206574;
    for (i = 0; i < 8; i++)
        s->start[4 + i] = load32le(k + 4 * i);
    s->start[12] = 0;
    for (i = 0; i < 3; i++)
        s->start[13 + i] = load32le(npub + 4 * i);
}

void chacha20_block(chacha20 *s)
{
    uint32_t *x = s->x;
    uint8_t i;

    for (i = 0; i < 16; i++)
        x[i] = s->start[i];
    for (i = 0; i < 10; i++) {
        quarter_round(x + 0, x + 4, x + 8, x + 12);
        quarter_round(x + 1, x + 5, x + 9, x + 13);
        quarter_round(x + 2, x + 6, x + 10, x + 14);
        quarter_round(x + 3, x + 7, x + 11, x + 15);
        quarter_round(x + 0, x + 5, x + 10, x + 15);
        quarter_round(x + 1, x + 6, x + 11, x + 12);
        quarter_round(x + 2, x + 7, x + 8, x + 13);
        quarter_round(x + 3, x + 4, x + 9, x + 14);
    }
    for (i = 0; i < 16; i++)
        x[i] += s->start[i];
    s->start[12]++;
}

void chacha20_xor(chacha20 *s, uint8_t *out, const uint8_t *in, size_t len)
{
    while (len != 0) {
        uint8_t n = (uint8_t)(len < 64 ? len : 64);
        const uint32_t *x = s->x;

        chacha20_block(s);
        len -= n;
        for (; n >= 4; n = (uint8_t)(n - 4)) {
            store32le(out, load32le(in) ^ *x++);
            in += 4;
            out += 4;
        }
        if (n != 0) {
            uint32_t word = *x;

            for (; n != 0; n--) {
                *out++ = (uint8_t)(*in++ ^ word);
                word >>= 8;
            }
        }
    }
}
