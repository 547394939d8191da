/*
 * KATAN and KTANTAN as the paper describes them, clock by clock.
 */
#include "bytes.h"
#include "sizes.h"
#include "key_bits.h"

#define BIT(x, n) ((uint8_t)((x) >> (n)) & 1)

/* The counter T; its highest bit is IR. */
static uint8_t next(uint8_t t)
{
    return (uint8_t)((uint8_t)(t << 1) |
                     ((t >> 7 ^ t >> 6 ^ t >> 4 ^ t >> 2) & 1));
}

static uint8_t previous(uint8_t t)
{
    return (uint8_t)(t >> 1 |
                     (uint8_t)((t ^ t >> 7 ^ t >> 5 ^ t >> 3) << 7));
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    set_key((context *)ctx, k);
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    set_key((context *)ctx, k);
    return 0;
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint64_t s = load_block(in);
    reg2 l2 = (reg2)s & MASK2;
    uint32_t l1 = (uint32_t)(s >> LENGTH2);
    uint8_t t = 0xFF, i, j;

    for (i = 0; i < ROUNDS; i++) {
        uint8_t ka, kb;

        t = next(t);
        ka = key_bit_a(c, i, t);
        kb = key_bit_b(c, i, t);
        for (j = 0; j < CLOCKS; j++) {
            uint8_t fa = BIT(l1, X1) ^ BIT(l1, X2) ^
                         (BIT(l1, X3) & BIT(l1, X4)) ^
                         (BIT(l1, X5) & t >> 7) ^ ka;
            uint8_t fb = BIT(l2, Y1) ^ BIT(l2, Y2) ^
                         (BIT(l2, Y3) & BIT(l2, Y4)) ^
                         (BIT(l2, Y5) & BIT(l2, Y6)) ^ kb;

            l1 = (l1 << 1 & MASK1) | fb;
            l2 = (l2 << 1 & MASK2) | fa;
        }
    }
    store_block(out, (uint64_t)l1 << LENGTH2 | l2);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint64_t s = load_block(in);
    reg2 l2 = (reg2)s & MASK2;
    uint32_t l1 = (uint32_t)(s >> LENGTH2);
    uint8_t t = 0xFF, i, j;

    for (i = 0; i < ROUNDS; i++)
        t = next(t);
    for (i = ROUNDS; i-- > 0; t = previous(t)) {
        uint8_t ka = key_bit_a(c, i, t), kb = key_bit_b(c, i, t);

        for (j = 0; j < CLOCKS; j++) {
            uint8_t fa = BIT(l2, 0), fb = BIT(l1, 0);

            l1 >>= 1;
            l2 >>= 1;
            /* the bit that left, X1 or Y1, is what is missing in the sum */
            fa ^= BIT(l1, X2) ^ (BIT(l1, X3) & BIT(l1, X4)) ^
                  (BIT(l1, X5) & t >> 7) ^ ka;
            fb ^= BIT(l2, Y2) ^ (BIT(l2, Y3) & BIT(l2, Y4)) ^
                  (BIT(l2, Y5) & BIT(l2, Y6)) ^ kb;
            l1 |= (uint32_t)fa << X1;
            l2 |= (reg2)fb << Y1;
        }
    }
    store_block(out, (uint64_t)l1 << LENGTH2 | l2);
    return 0;
}
