/*
 * KATAN and KTANTAN in constant time, several rounds at once: no bit that
 * they write is read before the next step (KATAN32: 4 rounds, others 3).
 * Decryption of the longer ones reads some of the bits that it writes: these
 * get right one after another, a few at once.
 */
#include "bytes.h"
#include "sizes.h"
#include "irregular.h"
#include "stream.h"

#define STEP_ROUNDS (CLOCKS == 1 ? 4 : 3)
#define STEP (STEP_ROUNDS * CLOCKS)
#define LAST (2 * CLOCKS) /* both lengths of steps leave two rounds */
#define STEPS (ROUNDS / STEP_ROUNDS)

#if CRYPTO_BLOCKBYTES == 8
typedef uint16_t step_bits;
#else
typedef uint8_t step_bits;
#endif

/* Sums are as wide as the machine's words. */
#if defined(__AVR__)
typedef step_bits sum;
#else
typedef uint32_t sum;
#endif

/* Key bits of each step, as often as a round has clocks, the first round's
 * highest. */
typedef struct {
    step_bits a[STEPS + 1], b[STEPS + 1];
} context;
CONTEXT(context);

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;
    stream s;
    uint8_t i, j;

    start(&s, k);
    for (i = 0; i <= STEPS; i++) {
        uint8_t rounds = i == STEPS ? 2 : STEP_ROUNDS;
        step_bits a = 0, b = 0;

        for (j = 0; j < rounds; j++) {
            uint8_t two = next_two(&s);
            /* all CLOCKS bits, or none */
            step_bits all = (1 << CLOCKS) - 1;

            a = (step_bits)((step_bits)(a << CLOCKS) |
                            (step_bits)((two & 1) * all));
            b = (step_bits)((step_bits)(b << CLOCKS) |
                            (step_bits)((two >> 1) * all));
        }
        c->a[i] = a;
        c->b[i] = b;
    }
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

/* n bits that end, in the first clock, at tap. */
#define AT(l, tap, n) ((uint32_t)((l) >> ((tap) - (n) + 1)))

#define FORWARD(n, ir, ka, kb)                                               \
    do {                                                                     \
        uint32_t fa_ = AT(l1, X1, n) ^ AT(l1, X2, n) ^                       \
                       (AT(l1, X3, n) & AT(l1, X4, n)) ^                     \
                       (AT(l1, X5, n) & (ir)) ^ (ka);                        \
        uint32_t fb_ = AT(l2, Y1, n) ^ AT(l2, Y2, n) ^                       \
                       (AT(l2, Y3, n) & AT(l2, Y4, n)) ^                     \
                       (AT(l2, Y5, n) & AT(l2, Y6, n)) ^ (kb);               \
                                                                             \
        l1 = (l1 << (n) & MASK1) | (fb_ & (((uint32_t)1 << (n)) - 1));       \
        l2 = (l2 << (n) & MASK2) | (fa_ & (((uint32_t)1 << (n)) - 1));       \
    } while (0)

/* The n highest bits of a register, which are missing in the sum f. Those
 * that the first product reads, distance below, are known after as many
 * others, so each turn settles distance more. */
#define MISSING(u, n, f, known, by, distance)                                \
    do {                                                                     \
        sum by_ = (sum)(by), k_;                                             \
                                                                             \
        f ^= (sum)((known) & by_);                                           \
        u = f;                                                               \
        for (k_ = (distance); k_ < (n); k_ = (sum)(k_ + (distance)))         \
            u = (sum)(f ^ ((sum)(u << (distance)) & by_));                   \
        u &= (sum)(((uint32_t)1 << (n)) - 1);                                \
    } while (0)

#define BACKWARD(n, ir, ka, kb)                                              \
    do {                                                                     \
        sum fa_ = (sum)l2, fb_ = (sum)l1, ua_, ub_;                          \
                                                                             \
        l1 >>= (n);                                                          \
        l2 >>= (n);                                                          \
        fa_ ^= (sum)(AT(l1, X2, n) ^ (AT(l1, X5, n) & (ir)) ^ (ka));         \
        fb_ ^= (sum)(AT(l2, Y2, n) ^                                         \
                      (AT(l2, Y5, n) & AT(l2, Y6, n)) ^ (kb));               \
        MISSING(ua_, n, fa_, AT(l1, X3, n), AT(l1, X4, n), X1 - X3);         \
        MISSING(ub_, n, fb_, AT(l2, Y3, n), AT(l2, Y4, n), Y1 - Y3);         \
        l1 |= (uint32_t)ua_ << (LENGTH1 - (n));                              \
        l2 |= (reg2)ub_ << (LENGTH2 - (n));                                  \
    } while (0)

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint64_t s = load_block(in);
    reg2 l2 = (reg2)s & MASK2;
    uint32_t l1 = (uint32_t)(s >> LENGTH2);
    uint8_t i;

    for (i = 0; i < STEPS; i++)
        FORWARD(STEP, IRREGULAR(i), c->a[i], c->b[i]);
    FORWARD(LAST, IRREGULAR(STEPS), c->a[STEPS], c->b[STEPS]);
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
    uint8_t i;

    BACKWARD(LAST, IRREGULAR(STEPS), c->a[STEPS], c->b[STEPS]);
    for (i = STEPS; i-- > 0;)
        BACKWARD(STEP, IRREGULAR(i), c->a[i], c->b[i]);
    store_block(out, (uint64_t)l1 << LENGTH2 | l2);
    return 0;
}
