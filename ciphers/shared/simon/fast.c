/*
 * SIMON, two rounds at a time, so that halves are not exchanged. Words of 24
 * and 48 bits are reduced once where they are written.
 */
#include "bytes.h"
#include "words.h"
#include "constants.h"
#include "rotations.h"

typedef struct {
    word k[ROUNDS];
} context;
CONTEXT(context);

static inline word f(word x)
{
    word one = LEFT(x, 1);

    /* where a rotation by two is not free, it is one more by one */
#if CRYPTO_BLOCKBYTES == 8
    return (one & LEFT(x, 8)) ^ LEFT(one, 1);
#else
    return (word)((one & LEFT(x, 8)) ^ LEFT(x, 2));
#endif
}

#define HALF(x, y, k) ((y) = WORD((y) ^ f(x) ^ (k)))
#define TWO(k) (HALF(x, y, (k)[0]), HALF(y, x, (k)[1]))
#define TWO_BACK(k) (HALF(y, x, (k)[1]), HALF(x, y, (k)[0]))

/* rounds in a turn of the loop: branches cost AVR the least */
#if defined(__AVR__)
#define TURN 2
#else
#define TURN 4
#endif

#if defined(__AVR__)
/* Bits of the constant sequence one by one, which is how AVR shifts. */
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    word *to = ((context *)ctx)->k, last;
    uint32_t low = (uint32_t)Z, high = (uint32_t)(Z >> 32);
    uint8_t i, left = 32;

    for (i = 0; i < KEY_WORDS; i++)
        to[i] = load(k + (KEY_WORDS - 1 - i) * WORD_BYTES);
    last = to[KEY_WORDS - 1];
    for (; i < ROUNDS; i++, to++) {
        word t = WORD(RIGHT(last, 3));

        if (KEY_WORDS == 4)
            t ^= to[1];
        t ^= WORD(RIGHT(t, 1));
        last = WORD(to[0] ^ t ^ (word)(low & 1) ^ (word)~(word)3);
        to[KEY_WORDS] = last;
        low >>= 1;
        if (--left == 0) {
            uint32_t next = (uint32_t)Z;

            /* 30 bits are left of the 62, and then the first ones */
            low = high | next << 30;
            high = next >> 2;
            left = 32;
        }
    }
    return 0;
}
#else
/* As many words at once as the key has: all numbers of rounds are multiples.
 * Halves of the constant sequence have 31 bits, and go round. */
int crypto_block_encrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    word *to = ((context *)ctx)->k, w[KEY_WORDS];
    uint32_t low = (uint32_t)Z & 0x7fffffff, high = (uint32_t)(Z >> 31);
    uint8_t i, j;

    for (i = 0; i < KEY_WORDS; i++)
        to[i] = w[i] = load(k + (KEY_WORDS - 1 - i) * WORD_BYTES);
    for (; i < ROUNDS; i = (uint8_t)(i + KEY_WORDS)) {
        uint32_t bits = low;

        to += KEY_WORDS;
        for (j = 0; j < KEY_WORDS; j++) {
            word t = WORD(RIGHT(w[(j + KEY_WORDS - 1) % KEY_WORDS], 3));

            if (KEY_WORDS == 4)
                t ^= w[(j + 1) % KEY_WORDS];
            t ^= WORD(RIGHT(t, 1));
            w[j] = WORD(w[j] ^ t ^ (word)(bits >> j & 1) ^ (word)~(word)3);
            to[j] = w[j];
        }
        low = (bits >> KEY_WORDS | high << (31 - KEY_WORDS)) & 0x7fffffff;
        high = (high >> KEY_WORDS | bits << (31 - KEY_WORDS)) & 0x7fffffff;
    }
    return 0;
}
#endif

int crypto_block_decrypt_schedule(unsigned char *ctx, const unsigned char *k)
{
    return crypto_block_encrypt_schedule(ctx, k);
}

int crypto_block_encrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const word *k = ((const context *)ctx)->k;
    word x = load(in), y = load(in + WORD_BYTES);
    uint8_t i;

    for (i = 0; i < ROUNDS / TURN; i++, k += TURN) {
        TWO(k);
        if (TURN == 4)
            TWO(k + 2);
    }
    if (ROUNDS % TURN >= 2) {
        TWO(k);
        k += 2;
    }
    if (ROUNDS % 2 != 0) {
        word t = x;

        HALF(x, y, k[0]);
        x = y;
        y = t;
    }
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}

int crypto_block_decrypt(unsigned char *out, const unsigned char *in,
                         const unsigned char *ctx)
{
    const word *k = ((const context *)ctx)->k + ROUNDS;
    word x = load(in), y = load(in + WORD_BYTES);
    uint8_t i;

    if (ROUNDS % 2 != 0) {
        word t = y;

        k--;
        HALF(y, x, k[0]);
        y = x;
        x = t;
    }
    if (ROUNDS % TURN >= 2) {
        k -= 2;
        TWO_BACK(k);
    }
    for (i = 0; i < ROUNDS / TURN; i++) {
        k -= TURN;
        if (TURN == 4)
            TWO_BACK(k + 2);
        TWO_BACK(k);
    }
    store(out, x);
    store(out + WORD_BYTES, y);
    return 0;
}
