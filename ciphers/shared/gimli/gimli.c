/* Gimli: Algorithm 1 of the specification. */
#include "gimli.h"

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))

#if defined(__AVR__)

/* One bit at a time, and never joined to a loop. */
#define OPAQUE(x) __asm__("" : "+r"(x))

static inline uint32_t shl1(uint32_t x)
{
    x <<= 1;
    OPAQUE(x);
    return x;
}

static inline uint32_t rotl9(uint32_t x)
{
    x = ROTL(x, 8);
    OPAQUE(x);
    return ROTL(x, 1);
}

#define SHL3(x) shl1(shl1(shl1(x)))
#define SHL1_2(a, b) shl1((a) ^ shl1(b))
#define SHL1(x) shl1(x)
#define ROTL9(x) rotl9(x)

#else

#define SHL3(x) ((x) << 3)
#define SHL1_2(a, b) ((a) << 1 ^ (b) << 2)
#define SHL1(x) ((x) << 1)
#define ROTL9(x) ROTL(x, 9)

#endif

/* The SP-box on one column, x = s_0, y = s_1, z = s_2: result in the same. */
#define SP_BOX(x, y, z)                                                      \
    do {                                                                     \
        uint32_t x_ = ROTL(x, 24), y_ = ROTL9(y), z_ = z;                    \
                                                                             \
        z = x_ ^ SHL1_2(z_, y_ & z_);                                        \
        y = y_ ^ x_ ^ SHL1(x_ | z_);                                         \
        x = z_ ^ y_ ^ SHL3(x_ & y_);                                         \
    } while (0)

/* The non-linear layer, on every column one or two times. */
static void layer(uint32_t *s, uint8_t times)
{
    uint8_t j;

    for (j = 0; j < 4; j++) {
        uint32_t x = s[j], y = s[4 + j], z = s[8 + j];

        SP_BOX(x, y, z);
        if (times != 1)
            SP_BOX(x, y, z);
        s[j] = x;
        s[4 + j] = y;
        s[8 + j] = z;
        __asm__ volatile("" ::: "memory");  /* finish this column first */
    }
}

static inline void swap(uint32_t *s, uint8_t i, uint8_t j)
{
    uint32_t t = s[i];

    s[i] = s[j];
    s[j] = t;
}

/*
 * Columns are mixed only after round r with r mod 4 = 0 or 2: two SP-boxes on
 * a column follow each other before that.
 */
void gimli(gimli_state *g)
{
    uint32_t *s = g->s;
    uint8_t r = 24;

    layer(s, 1);                        /* round 24 */
    for (;;) {
        swap(s, 0, 1);                  /* Small-Swap */
        swap(s, 2, 3);
        s[0] ^= UINT32_C(0x9e377900) ^ r;
        layer(s, 2);                    /* rounds r - 1, r - 2 */
        swap(s, 0, 2);                  /* Big-Swap */
        swap(s, 1, 3);
        if (r == 4)
            break;
        layer(s, 2);                    /* rounds r - 3, r - 4 */
        r = (uint8_t)(r - 4);
    }
    layer(s, 1);                        /* round 1 */
}
