/* Clyde-128, a tweakable LS-design (section 3.2, Algorithm 1). */
#include "components.h"
#include "spook.h"

#define STEPS 6

typedef struct {
    uint32_t x[4]; /* the state */
    uint32_t k[4]; /* K */
    uint32_t d[4]; /* delta, first T */
} clyde128;

static void load(clyde128 *z, const uint8_t *k, const uint8_t *t,
                 const uint8_t *x)
{
    uint8_t i;

    for (i = 0; i < 4; i++) {
        z->k[i] = LOAD32(k + 4 * i);
        z->d[i] = LOAD32(t + 4 * i);
        z->x[i] = LOAD32(x + 4 * i);
    }
}

static void store(uint8_t *x, const clyde128 *z)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        STORE32(x + 4 * i, z->x[i]);
}

/* x ^= TK = K ^ delta */
static inline void add_tweakey(clyde128 *z)
{
    uint8_t i;

    for (i = 0; i < 4; i++)
        z->x[i] ^= z->k[i] ^ z->d[i];
}

void clyde128_encrypt(const uint8_t *k, const uint8_t *t, uint8_t *x)
{
    clyde128 z;
    uint8_t w = FIRST_CONSTANT, round, i;

    load(&z, k, t, x);
    add_tweakey(&z);
    for (round = 0; round < 2 * STEPS; round++) {
        spook_s(z.x);
        spook_l(z.x);
        spook_l(z.x + 2);
        ADD_CONSTANT(w, z.x, 0);
        w = NEXT_CONSTANT(w);
        if (round & 1) {
            /* phi: x_0 || x_1 becomes x_0 ^ x_1 || x_0 */
            for (i = 0; i < 2; i++) {
                const uint32_t x0 = z.d[i];

                z.d[i] ^= z.d[2 + i];
                z.d[2 + i] = x0;
            }
            add_tweakey(&z);
        }
    }
    store(x, &z);
}

static inline void inverse_s(uint32_t *x)
{
    const uint32_t y3 = (x[0] & x[1]) ^ x[2];
    const uint32_t y0 = (x[1] & y3) ^ x[3];
    const uint32_t y1 = (y3 & y0) ^ x[0];
    const uint32_t y2 = (y0 & y1) ^ x[1];

    x[0] = y0;
    x[1] = y1;
    x[2] = y2;
    x[3] = y3;
}

static SPOOK_INLINE void inverse_l(uint32_t *x)
{
    uint32_t a = x[0] ^ rot(x[0], 25);
    uint32_t b = x[1] ^ rot(x[1], 25);
    uint32_t c = x[0] ^ rot(a, 31);
    uint32_t d = x[1] ^ rot(b, 31);

    c ^= rot(a, 20);
    d ^= rot(b, 20);
    a = c ^ rot(c, 31);
    b = d ^ rot(d, 31);
    c ^= rot(b, 26);
    d ^= rot(a, 25);
    a ^= rot(c, 17);
    b ^= rot(d, 17);
    x[0] = rot(a, 16);
    x[1] = rot(b, 16);
}

/* The same backwards (appendices E and F).  phi^3 is the identity, so that
 * delta_6 = delta_0. */
void clyde128_decrypt(const uint8_t *k, const uint8_t *t, uint8_t *x)
{
    clyde128 z;
    uint8_t w = AFTER_LAST_CONSTANT, round, i;

    load(&z, k, t, x);
    for (round = 0; round < 2 * STEPS; round++) {
        if ((round & 1) == 0) {
            add_tweakey(&z);
            for (i = 0; i < 2; i++) {
                const uint32_t x0 = z.d[2 + i];

                z.d[2 + i] ^= z.d[i];
                z.d[i] = x0;
            }
        }
        w = PREVIOUS_CONSTANT(w);
        ADD_CONSTANT(w, z.x, 0);
        inverse_l(z.x);
        inverse_l(z.x + 2);
        inverse_s(z.x);
    }
    add_tweakey(&z);
    store(x, &z);
}
