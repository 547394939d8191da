/*
 * TWINE for machines with words of a byte and without a cache: nibbles stay
 * in registers, in each round under other names, which the shuffle gives
 * them; after eight rounds they are the first ones.
 */
#include "bytes.h"
#include "schedule.h"

/* two nibbles in a byte: those of X0 to X6 are the low ones */
typedef struct {
    uint8_t rk[ROUNDS][4];
} context;
CONTEXT(context);

TABLE(uint8_t) box[16] = { 0xC, 0, 0xF, 0xA, 2, 0xB, 9, 5,
                           8, 3, 0xD, 7, 1, 0xE, 6, 4 };

#define BOX(x) ENTRY8(box[(uint8_t)(x)])

/* One step of the key state, which is a ring that starts at nibble `o`. */
#define WK(n) wk[(o + (n)) % NIBBLES]
#define RK(j)                                                                \
    c->rk[i][j] = (uint8_t)(WK(round_nibble[j]) |                            \
                            WK(round_nibble[(j) + 4]) << 4)
#define KEY_STEP(at)                                                         \
    do {                                                                     \
        enum { o = (at) };                                                   \
        uint8_t t;                                                           \
                                                                             \
        RK(0);                                                               \
        RK(1);                                                               \
        RK(2);                                                               \
        RK(3);                                                               \
        if (++i == ROUNDS)                                                   \
            return 0;                                                        \
        WK(1) ^= BOX(WK(0));                                                 \
        WK(4) ^= BOX(WK(16));                                                \
        if (NIBBLES == 32)                                                   \
            WK(23) ^= BOX(WK(30));                                           \
        WK(7) ^= con >> 3;                                                   \
        WK(19) ^= con & 7;                                                   \
        con = (uint8_t)((uint8_t)(con << 1) ^ (con >> 5) * 0x43);            \
        t = WK(0);                                                           \
        WK(0) = WK(1);                                                       \
        WK(1) = WK(2);                                                       \
        WK(2) = WK(3);                                                       \
        WK(3) = t;                                                           \
    } while (0)

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    uint8_t wk[NIBBLES], con = 1, i;

    for (i = 0; i < CRYPTO_KEYBYTES; i++) {
        wk[2 * i] = k[i] >> 4;
        wk[2 * i + 1] = k[i] & 15;
    }
    for (i = 0;;) {
        KEY_STEP(0);
        KEY_STEP(4);
        KEY_STEP(8);
        KEY_STEP(12);
        KEY_STEP(16);
#if CRYPTO_KEYBYTES == 16
        KEY_STEP(20);
        KEY_STEP(24);
        KEY_STEP(28);
#endif
    }
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

#define PAIRS(j, even, odd, even4, odd4)                                     \
    t = rk[j];                                                               \
    odd ^= BOX(even ^ (t & 15));                                             \
    odd4 ^= BOX(even4 ^ t >> 4);
#define ROUND(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13,    \
              x14, x15)                                                      \
    PAIRS(0, x0, x1, x8, x9)                                                 \
    PAIRS(1, x2, x3, x10, x11)                                               \
    PAIRS(2, x4, x5, x12, x13)                                               \
    PAIRS(3, x6, x7, x14, x15)

/* rounds of number n mod 8, and the names behind the last one, number 35 */
#define ROUND0 ROUND(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
#define ROUND1 ROUND(b, c, l, g, d, a, j, e, h, k, n, o, f, i, p, m)
#define ROUND2 ROUND(c, l, o, j, g, b, k, d, e, n, i, p, a, h, m, f)
#define ROUND3 ROUND(l, o, p, k, j, c, n, g, d, i, h, m, b, e, f, a)
#define ROUND4 ROUND(o, p, m, n, k, l, i, j, g, h, e, f, c, d, a, b)
#define ROUND5 ROUND(p, m, f, i, n, o, h, k, j, e, d, a, l, g, b, c)
#define ROUND6 ROUND(m, f, a, h, i, p, e, n, k, d, g, b, o, j, c, l)
#define ROUND7 ROUND(f, a, b, e, h, m, d, i, n, g, j, c, p, k, l, o)

#define LOAD(high, low, n)                                                   \
    uint8_t high = in[n] >> 4, low = in[n] & 15
#define STORE(high, low, n) out[n] = (uint8_t)(high << 4 | low)

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint8_t *rk = ctx;
    uint8_t turn, t;
    LOAD(a, b, 0);
    LOAD(c, d, 1);
    LOAD(e, f, 2);
    LOAD(g, h, 3);
    LOAD(i, j, 4);
    LOAD(k, l, 5);
    LOAD(m, n, 6);
    LOAD(o, p, 7);

    for (turn = 0;; turn++) {
        ROUND0
        rk += 4;
        ROUND1
        rk += 4;
        ROUND2
        rk += 4;
        ROUND3
        rk += 4;
        if (turn == ROUNDS / 8)
            break;
        ROUND4
        rk += 4;
        ROUND5
        rk += 4;
        ROUND6
        rk += 4;
        ROUND7
        rk += 4;
    }
    STORE(l, o, 0);
    STORE(p, k, 1);
    STORE(j, c, 2);
    STORE(n, g, 3);
    STORE(d, i, 4);
    STORE(h, m, 5);
    STORE(b, e, 6);
    STORE(f, a, 7);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const uint8_t *rk = ctx + 4 * (ROUNDS - 1);
    uint8_t turn, t;
    LOAD(l, o, 0);
    LOAD(p, k, 1);
    LOAD(j, c, 2);
    LOAD(n, g, 3);
    LOAD(d, i, 4);
    LOAD(h, m, 5);
    LOAD(b, e, 6);
    LOAD(f, a, 7);

    for (turn = 0;; turn++) {
        ROUND3
        rk -= 4;
        ROUND2
        rk -= 4;
        ROUND1
        rk -= 4;
        ROUND0
        rk -= 4;
        if (turn == ROUNDS / 8)
            break;
        ROUND7
        rk -= 4;
        ROUND6
        rk -= 4;
        ROUND5
        rk -= 4;
        ROUND4
        rk -= 4;
    }
    STORE(a, b, 0);
    STORE(c, d, 1);
    STORE(e, f, 2);
    STORE(g, h, 3);
    STORE(i, j, 4);
    STORE(k, l, 5);
    STORE(m, n, 6);
    STORE(o, p, 7);
    return 0;
}
