/*
 * TWINE without tables, in constant time: nibbles of even and of odd number
 * are two words of slices; the shuffle takes those of one to the other.
 * AVR, which has words of a byte and no cache, is faster with a table in flash.
 */
#if defined(__AVR__)
#include "bytewise.h"
#else

#include "slices8.h"
#include "circuit.h"
#include "schedule.h"

typedef struct {
    uint32_t rk[ROUNDS];
} context;
CONTEXT(context);

/* The S-box on three nibbles of v. */
static uint16_t substitute(uint16_t v)
{
    slice x[4];

    x[0] = v;
    x[1] = v >> 1;
    x[2] = v >> 2;
    x[3] = v >> 3;
    sbox(x);
    return (uint16_t)((x[0] & 0x111) | (x[1] & 0x111) << 1 |
                      (x[2] & 0x111) << 2 | (x[3] & 0x111) << 3);
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    /* Instead of the nibbles the place where they begin moves; from the end
     * they come back. */
    uint8_t room[2 * NIBBLES], *wk = room, con = 1, i, j;

    for (i = 0; i < CRYPTO_KEYBYTES; i++) {
        wk[2 * i] = k[i] >> 4;
        wk[2 * i + 1] = k[i] & 15;
    }
    for (i = 0;; i++) {
        uint8_t rk[8];
        uint32_t low, high;
        uint16_t t;

        for (j = 0; j < 8; j++)
            rk[j] = wk[round_nibble[j]];
        low = load32le(rk);
        high = load32le(rk + 4);
        TRANSPOSE(low, high);
        c->rk[i] = low;
        if (i == ROUNDS - 1)
            return 0;
        t = (uint16_t)(wk[0] | wk[16] << 4);
#if CRYPTO_KEYBYTES == 16
        t |= (uint16_t)(wk[30] << 8);
#endif
        t = substitute(t);
        wk[1] ^= t & 15;
        wk[4] ^= t >> 4 & 15;
#if CRYPTO_KEYBYTES == 16
        wk[23] ^= t >> 8;
#endif
        wk[7] ^= con >> 3;
        wk[19] ^= con & 7;
        con = (uint8_t)((uint8_t)(con << 1) ^ (con >> 5) * 0x43);
        wk[NIBBLES] = wk[1];
        wk[NIBBLES + 1] = wk[2];
        wk[NIBBLES + 2] = wk[3];
        wk[NIBBLES + 3] = wk[0];
        wk += 4;
        if (wk == room + NIBBLES) {
            memcpy(room, wk, NIBBLES);
            wk = room;
        }
    }
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

static inline uint32_t f(uint32_t even, uint32_t rk)
{
    slice x[4];

    even ^= rk;
    SPLIT(x, even);
    sbox(x);
    return JOIN(x);
}

/* An even nibble 2 n comes to an odd one: in halves, 0 1 2 3 to 2 0 3 1. */
#define TO_ODD(e)                                                            \
    (((e) & 0x11111111) << 2 | ((e) >> 1 & 0x11111111) |                     \
     ((e) & 0x44444444) << 1 | ((e) >> 2 & 0x22222222))
#define FROM_ODD(o)                                                          \
    (((o) >> 2 & 0x11111111) | ((o) & 0x11111111) << 1 |                     \
     ((o) >> 1 & 0x44444444) | ((o) & 0x22222222) << 2)

/* An odd one to an even one: 0 to 7 to 0 2 6 4 3 1 5 7. */
#define TO_EVEN(o)                                                           \
    (((o) & 0x81818181) | ((o) & 0x0A0A0A0A) << 1 |                          \
     ((o) & 0x04040404) << 4 | ((o) >> 1 & 0x28282828) |                     \
     ((o) >> 4 & 0x02020202))
#define FROM_EVEN(e)                                                         \
    (((e) & 0x81818181) | ((e) >> 1 & 0x0A0A0A0A) |                          \
     ((e) >> 4 & 0x04040404) | ((e) & 0x28282828) << 1 |                     \
     ((e) & 0x02020202) << 4)

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t odd = load32le(in), even = load32le(in + 4);
    uint8_t i;

    TRANSPOSE(odd, even);
    for (i = 0; i < ROUNDS - 1; i++) {
        uint32_t t = odd ^ f(even, c->rk[i]);

        odd = TO_ODD(even);
        even = TO_EVEN(t);
    }
    odd ^= f(even, c->rk[ROUNDS - 1]);
    TRANSPOSE(odd, even);
    store32le(out, odd);
    store32le(out + 4, even);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t odd = load32le(in), even = load32le(in + 4);
    uint8_t i;

    TRANSPOSE(odd, even);
    odd ^= f(even, c->rk[ROUNDS - 1]);
    for (i = ROUNDS - 1; i-- > 0;) {
        uint32_t t = FROM_EVEN(even);

        even = FROM_ODD(odd);
        odd = t ^ f(even, c->rk[i]);
    }
    TRANSPOSE(odd, even);
    store32le(out, odd);
    store32le(out + 4, even);
    return 0;
}

#endif
