/*
 * Saturnin, decryption: the steps of saturnin.c backwards, each inverted.
 */
#include "saturnin.h"

#include "constants.h"

#define INVERSE_SIGMA(x0, x1, x2, x3)                                        \
    do {                                                                     \
        x0 ^= x1 | x3;                                                       \
        x1 ^= x0 | x2;                                                       \
        x2 ^= x1 & x3;                                                       \
        x3 ^= x1 | x2;                                                       \
        x1 ^= x0 | x3;                                                       \
        x0 ^= x1 & x2;                                                       \
    } while (0)

#define INVERSE_SIGMA_0(x0, x1, x2, x3)                                      \
    do {                                                                     \
        t = x3;                                                              \
        x3 = x2;                                                             \
        x2 = x1;                                                             \
        x1 = x0;                                                             \
        x0 = t;                                                              \
        INVERSE_SIGMA(x0, x1, x2, x3);                                       \
    } while (0)

#define INVERSE_SIGMA_1(x0, x1, x2, x3)                                      \
    do {                                                                     \
        t = x2;                                                              \
        x2 = x3;                                                             \
        x3 = x0;                                                             \
        x0 = t;                                                              \
        INVERSE_SIGMA(x0, x1, x2, x3);                                       \
    } while (0)

/* The states of RC_1 and RC_0 after the super-rounds 0 to 9 */
static void constants(uint8_t d, uint32_t *rc)
{
    uint16_t rc0 = FIRST_CONSTANT(10, d), rc1 = rc0;
    uint8_t i;

    for (i = 0; i < 10; i++) {
        rc0 = saturnin_rc0(rc0);
        rc1 = saturnin_rc1(rc1);
        rc[i] = rc0 | (uint32_t)rc1 << 16;
    }
}

#if defined(__AVR__)

#include "bytes.h"

#define INVERSE_S()                                                          \
    do {                                                                     \
        INVERSE_SIGMA_0(a0, a1, a2, a3);                                     \
        INVERSE_SIGMA_1(b0, b1, b2, b3);                                     \
        INVERSE_SIGMA_0(c0, c1, c2, c3);                                     \
        INVERSE_SIGMA_1(d0, d1, d2, d3);                                     \
    } while (0)

#define INVERSE_MC()                                                         \
    do {                                                                     \
        ADD(d, a);                                                           \
        ADD(b, c);                                                           \
        ADD(c, d);                                                           \
        ADD(a, b);                                                           \
        INVERSE_ALPHA(c);                                                    \
        INVERSE_ALPHA(c);                                                    \
        INVERSE_ALPHA(a);                                                    \
        INVERSE_ALPHA(a);                                                    \
        ADD(d, a);                                                           \
        ADD(b, c);                                                           \
        INVERSE_ALPHA(d);                                                    \
        INVERSE_ALPHA(b);                                                    \
        ADD(c, d);                                                           \
        ADD(a, b);                                                           \
    } while (0)

static void columns(uint8_t *x, uint8_t phase)
{
    LOAD_COLUMNS(x);

    if (phase == SLICE)
        SR_SLICE();
    if (phase != BEFORE_SHEET)
        INVERSE_MC();
    if (phase == SLICE)
        INVERSE_SR_SLICE();
    if (phase != AFTER_SHEET) {
        INVERSE_S();
        INVERSE_MC();
        INVERSE_S();
    }
    STORE_COLUMNS(x);
}

void saturnin_decrypt(uint8_t d, const uint8_t *k, uint8_t *x)
{
    uint32_t rc[10];
    uint8_t rotated[32], i;

    constants(d, rc);
    saturnin_rotate_key(rotated, k);
    for (i = 10; i-- != 0;) {
        x[0] ^= (uint8_t)rc[i];
        x[1] ^= (uint8_t)(rc[i] >> 8);
        x[16] ^= (uint8_t)(rc[i] >> 16);
        x[17] ^= (uint8_t)(rc[i] >> 24);
        if ((i & 1) == 0) {
            saturnin_add_key(x, rotated);
            columns(x, SLICE);
            columns(x + 1, SLICE);
        } else {
            saturnin_add_key(x, k);
            saturnin_sheet(x, 0);
            columns(x, AFTER_SHEET);
            columns(x + 1, AFTER_SHEET);
            saturnin_sheet(x, 1);
            columns(x, BEFORE_SHEET);
            columns(x + 1, BEFORE_SHEET);
        }
    }
    saturnin_add_key(x, k);
}

#else

#include "words.h"

#define INVERSE_S()                                                          \
    do {                                                                     \
        INVERSE_SIGMA_0(a0, a1, a2, a3);                                     \
        INVERSE_SIGMA_1(b0, b1, b2, b3);                                     \
    } while (0)

#define INVERSE_MC()                                                         \
    do {                                                                     \
        ADD_A_TO_B();                                                        \
        ADD_B_TO_A();                                                        \
        INVERSE_ALPHA(a0, a1, a2, a3);                                       \
        INVERSE_ALPHA(a0, a1, a2, a3);                                       \
        ADD_A_TO_B();                                                        \
        INVERSE_ALPHA(b0, b1, b2, b3);                                       \
        ADD_B_TO_A();                                                        \
    } while (0)

void saturnin_decrypt(uint8_t d, const uint8_t *k, uint8_t *x)
{
    uint32_t key[8], rc[10];
    uint32_t a0, a1, a2, a3, b0, b1, b2, b3, t;
    uint8_t i;

    constants(d, rc);
    for (i = 0; i < 8; i++)
        key[i] = LOAD(k, i);
    a0 = LOAD(x, 0);
    a1 = LOAD(x, 1);
    a2 = LOAD(x, 2);
    a3 = LOAD(x, 3);
    b0 = LOAD(x, 4);
    b1 = LOAD(x, 5);
    b2 = LOAD(x, 6);
    b3 = LOAD(x, 7);

    for (i = 10; i-- != 0;) {
        a0 ^= rc[i];
        if ((i & 1) == 0) {
            ADD_KEY(ROTATED);
            SR_SLICE();
            INVERSE_MC();
            INVERSE_SR_SLICE();
        } else {
            ADD_KEY(PLAIN);
            SR_SHEET();
            INVERSE_MC();
            INVERSE_SR_SHEET();
        }
        INVERSE_S();
        INVERSE_MC();
        INVERSE_S();
    }

    STORE(x, 0, a0 ^ key[0]);
    STORE(x, 1, a1 ^ key[1]);
    STORE(x, 2, a2 ^ key[2]);
    STORE(x, 3, a3 ^ key[3]);
    STORE(x, 4, b0 ^ key[4]);
    STORE(x, 5, b1 ^ key[5]);
    STORE(x, 6, b2 ^ key[6]);
    STORE(x, 7, b3 ^ key[7]);
}

#endif
