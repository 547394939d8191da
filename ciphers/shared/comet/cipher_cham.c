/*
 * CHAM-128/128 and CHAM-64/128 (section 1.4.2): words of a quarter of the
 * block.
 */
#include "comet.h"
#include "rotate32.h"

#define ROUNDS 80

#if COMET_BLOCK == 16
typedef uint32_t word;
#define ROTL(x, n) rotl32(x, n)
#else
typedef uint16_t word;
#define ROTL(x, n) ((word)((word)((x) << (n)) | (x) >> (16 - (n))))
#endif

#define BYTES (COMET_BLOCK / 4)
#define KEY_WORDS (16 / BYTES)

static word load(const uint8_t *p)
{
    word x = 0;
    uint8_t i;

    for (i = BYTES; i != 0; i--)
        x = (word)((word)(x << 8) | p[i - 1]);
    return x;
}

static void store(uint8_t *p, word x)
{
    uint8_t i;

    for (i = 0; i < BYTES; i++) {
        p[i] = (uint8_t)x;
        x = (word)(x >> 8);
    }
}

/* Instead of moving the words at the end of a round, rounds name them anew. */
#define ROUND(s0, s1, a, b, t)                                               \
    do {                                                                     \
        s0 = (word)((s0 ^ (word)(i + (t))) +                                 \
                    (ROTL(s1, a) ^ r[(i + (t)) % (2 * KEY_WORDS)]));         \
        s0 = ROTL(s0, b);                                                    \
    } while (0)

void comet_cipher(uint8_t *y, const uint8_t *z)
{
    word r[2 * KEY_WORDS], s0, s1, s2, s3;
    uint8_t i;

    for (i = 0; i < KEY_WORDS; i++) {
        word k = load(z + BYTES * i), k1 = ROTL(k, 1);

        r[i] = k ^ k1 ^ ROTL(k, 8);
        r[(i + KEY_WORDS) ^ 1] = k ^ k1 ^ ROTL(k, 11);
    }
    s0 = load(y);
    s1 = load(y + BYTES);
    s2 = load(y + 2 * BYTES);
    s3 = load(y + 3 * BYTES);
    for (i = 0; i < ROUNDS; i = (uint8_t)(i + 4)) {
        ROUND(s0, s1, 1, 8, 0);
        ROUND(s1, s2, 8, 1, 1);
        ROUND(s2, s3, 1, 8, 2);
        ROUND(s3, s0, 8, 1, 3);
    }
    store(y, s0);
    store(y + BYTES, s1);
    store(y + 2 * BYTES, s2);
    store(y + 3 * BYTES, s3);
}
