/*
 * The Simeck sbox.
 */
#include "simeck_box.h"

#define M SIMECK_M

/* A word that has been shifted to the left may have more than m bits. */
#if M == 32
#define WORD(x) (x)
#else
#define WORD(x) ((x) & (((uint32_t)1 << M) - 1))
#endif

#if defined(__AVR__)

/* Keeps the compiler from joining one-bit shifts to a loop. */
#define OPAQUE(x) __asm__("" : "+r"(x))

static inline uint32_t l1(uint32_t x)
{
    uint8_t top = (uint8_t)((uint8_t)(x >> (M - 8)) >> 7);

    x = WORD(x << 1);
    OPAQUE(x);
    return x | top;
}

/* one byte to the left, which is names, and three bits to the right */
static inline uint32_t l5(uint32_t x)
{
    uint8_t low;

    x = WORD(x << 8) | x >> (M - 8);
    OPAQUE(x);
    low = (uint8_t)((uint8_t)x << 5);
    x >>= 1;
    OPAQUE(x);
    x >>= 1;
    OPAQUE(x);
    x >>= 1;
    OPAQUE(x);
    return x | (uint32_t)low << (M - 8);
}

#else

#define ROTATE_LEFT(x, n) WORD((x) << (n) | (x) >> (M - (n)))

static inline uint32_t l1(uint32_t x)
{
    return ROTATE_LEFT(x, 1);
}

static inline uint32_t l5(uint32_t x)
{
    return ROTATE_LEFT(x, 5);
}

#endif

/* x_j <- f_(5,0,1)(x_(j - 1)) ^ x_(j - 2) ^ gamma_(j - 2) in its place */
static inline uint32_t next(uint32_t before, uint32_t x, uint8_t rc)
{
    return (l5(x) & x) ^ l1(x) ^ before ^
           (WORD(0xfffffffeu) | (uint8_t)(rc & 1));
}

void simeck_box(uint32_t *x, uint8_t rc)
{
    uint32_t x1 = x[0], x0 = x[1];
    uint8_t j;

    for (j = 0; j < M / 8; j++) { /* two rounds */
        x0 = next(x0, x1, rc);
        rc >>= 1;
        x1 = next(x1, x0, rc);
        rc >>= 1;
    }
    x[0] = x1;
    x[1] = x0;
}
