/*
 * PRINCE without tables for data, in constant time: all of it on slices, two
 * in a word.
 */
#include "slices16.h"
#include "circuits.h"
#include "sliced_constants.h"

/* slices of k0 and k0', in the order of the direction, and of k1 */
typedef struct {
    uint32_t before[2], behind[2], k1[2];
} context;
CONTEXT(context);

/* M' leaves out of the sum of the four nibbles of a block, in bit b, one: for
 * nibble n (0 the lowest) nibble e - n mod 4, where e is b + 3, and b in the
 * two blocks in the middle. e = 3 exchanges neighbours, then pairs; 1
 * neighbours; 0 nibbles 1 and 3; 2 nibbles 0 and 2. */
#define M_PRIME(x, neighbours, pairs)                                        \
    do {                                                                     \
        uint32_t sum_ = (x) ^ (((x) >> 1 & 0x55555555) |                     \
                               ((x) & 0x55555555) << 1);                     \
                                                                             \
        sum_ ^= (sum_ >> 2 & 0x33333333) | (sum_ & 0x33333333) << 2;         \
        SWAP(x, neighbours, 1);                                              \
        SWAP(x, pairs, 2);                                                   \
        (x) ^= sum_;                                                         \
    } while (0)
#define NEIGHBOURS_LOW 0x05505005
#define NEIGHBOURS_HIGH 0x05505005
#define PAIRS_LOW 0x20023223
#define PAIRS_HIGH 0x13310110

/* Rows are nibbles 3, 2, 1 and 0 of the blocks: row r moves by r blocks. */
#define SHIFT_ROWS(x)                                                        \
    (((x) & 0x88888888) |                                                    \
     ((x) << 4 & 0x44404440) | ((x) >> 12 & 0x00040004) |                    \
     ((x) << 8 & 0x22002200) | ((x) >> 8 & 0x00220022) |                     \
     ((x) << 12 & 0x10001000) | ((x) >> 4 & 0x01110111))
#define INVERSE_SHIFT_ROWS(x)                                                \
    (((x) & 0x88888888) |                                                    \
     ((x) >> 4 & 0x04440444) | ((x) << 12 & 0x40004000) |                    \
     ((x) << 8 & 0x22002200) | ((x) >> 8 & 0x00220022) |                     \
     ((x) >> 12 & 0x00010001) | ((x) << 4 & 0x11101110))

static void to_slices(uint32_t *s, uint32_t low, uint32_t high)
{
    TO_SLICES(low, high);
    s[0] = low;
    s[1] = high;
}

static void schedule(uint32_t *before, uint32_t *behind, uint32_t *k1,
                     const unsigned char *k)
{
    uint32_t high = load32be(k), low = load32be(k + 4);

    to_slices(before, low, high);
    to_slices(behind, (low >> 1 | high << 31) ^ high >> 31,
              high >> 1 | low << 31);
    to_slices(k1, load32be(k + 12), load32be(k + 8));
}

int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;

    schedule(c->before, c->behind, c->k1, k);
    return 0;
}

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    context *c = (context *)ctx;

    schedule(c->behind, c->before, c->k1, k);
    c->k1[0] ^= ENTRY32(rc[11][0]);
    c->k1[1] ^= ENTRY32(rc[11][1]);
    return 0;
}

#define ADD(i)                                                               \
    (low ^= c->k1[0] ^ ENTRY32(rc[i][0]), high ^= c->k1[1] ^ ENTRY32(rc[i][1]))
#define SUBSTITUTE(box)                                                      \
    do {                                                                     \
        SPLIT(x, low, high);                                                 \
        box(x);                                                              \
        JOIN(x, low, high);                                                  \
    } while (0)
#define M_PRIME_ALL()                                                        \
    do {                                                                     \
        M_PRIME(low, NEIGHBOURS_LOW, PAIRS_LOW);                             \
        M_PRIME(high, NEIGHBOURS_HIGH, PAIRS_HIGH);                          \
    } while (0)

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const context *c = (const context *)ctx;
    uint32_t high = load32be(in), low = load32be(in + 4);
    slice x[4];
    uint8_t i;

    TO_SLICES(low, high);
    low ^= c->before[0];
    high ^= c->before[1];
    for (i = 0; i < 5; i++) {
        ADD(i);
        SUBSTITUTE(sbox);
        M_PRIME_ALL();
        low = SHIFT_ROWS(low);
        high = SHIFT_ROWS(high);
    }
    ADD(5);
    SUBSTITUTE(sbox);
    M_PRIME_ALL();
    SUBSTITUTE(inverse_sbox);
    for (i = 6; i < 11; i++) {
        ADD(i);
        low = INVERSE_SHIFT_ROWS(low);
        high = INVERSE_SHIFT_ROWS(high);
        M_PRIME_ALL();
        SUBSTITUTE(inverse_sbox);
    }
    ADD(11);
    low ^= c->behind[0];
    high ^= c->behind[1];
    TO_NIBBLES(low, high);
    store32be(out, high);
    store32be(out + 4, low);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    return crypto_block_encrypt(out, in, ctx);
}
