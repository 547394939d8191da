/*
 * Speck-64/128 (section 1.4.3; there L_0 is printed as K_0, and is K_1 in the
 * designers' paper, R. Beaulieu et al., "The SIMON and SPECK Families of
 * Lightweight Block Ciphers", section 4).
 */
#include "comet.h"
#include "rotate32.h"

#define ROUNDS 27

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static void store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

#ifdef COMET_SUBMITTED
/* The submission's code adds byte by byte and loses the carry out of 0xff +
 * 0xff + 1 in the round function. */
static uint32_t add(uint32_t x, uint32_t y)
{
    uint32_t sum = 0;
    uint16_t carry = 0;
    uint8_t i;

    for (i = 0; i < 32; i = (uint8_t)(i + 8)) {
        carry = (uint16_t)((x >> i & 0xFF) + (y >> i & 0xFF) + carry);
        sum |= (uint32_t)(carry & 0xFF) << i;
        carry = carry >> 8 & (uint16_t)~((carry + 1u) >> 9);
    }
    return sum;
}
#else
#define add(x, y) ((x) + (y))
#endif

/* A round with the key r, which then becomes the next one. */
#define ROUND(l, t)                                                          \
    do {                                                                     \
        x1 = add(rotr32(x1, 8), x0) ^ r;                                     \
        x0 = rotl32(x0, 3) ^ x1;                                             \
        l = (r + rotr32(l, 8)) ^ (uint8_t)(i + (t));                         \
        r = rotl32(r, 3) ^ l;                                                \
    } while (0)

void comet_cipher(uint8_t *y, const uint8_t *z)
{
    uint32_t x0 = load32(y), x1 = load32(y + 4);
    uint32_t r = load32(z), l0 = load32(z + 4);
    uint32_t l1 = load32(z + 8), l2 = load32(z + 12);
    uint8_t i;

    for (i = 0; i < ROUNDS; i = (uint8_t)(i + 3)) {
        ROUND(l0, 0);
        ROUND(l1, 1);
        ROUND(l2, 2);
    }
    store32(y, x0);
    store32(y + 4, x1);
}
