/*
 * Saturnin, encryption: bit-sliced (section 3.2), two registers in a word, or
 * in bytes on AVR.
 */
#include "saturnin.h"

#include "constants.h"

/* The S-boxes but for the permutations of their bits, pi_0 and pi_1 (Table
 * 3) */
#define SIGMA(x0, x1, x2, x3)                                                \
    do {                                                                     \
        x0 ^= x1 & x2;                                                       \
        x1 ^= x0 | x3;                                                       \
        x3 ^= x1 | x2;                                                       \
        x2 ^= x1 & x3;                                                       \
        x1 ^= x0 | x2;                                                       \
        x0 ^= x1 | x3;                                                       \
    } while (0)

#define SIGMA_0(x0, x1, x2, x3)                                              \
    do {                                                                     \
        SIGMA(x0, x1, x2, x3);                                               \
        t = x0;                                                              \
        x0 = x1;                                                             \
        x1 = x2;                                                             \
        x2 = x3;                                                             \
        x3 = t;                                                              \
    } while (0)

#define SIGMA_1(x0, x1, x2, x3)                                              \
    do {                                                                     \
        SIGMA(x0, x1, x2, x3);                                               \
        t = x0;                                                              \
        x0 = x3;                                                             \
        x3 = x2;                                                             \
        x2 = t;                                                              \
    } while (0)

#if defined(__AVR__)

#include "bytes.h"

/* S (Table 1): sigma_0 for a and c, sigma_1 for b and d */
#define S()                                                                  \
    do {                                                                     \
        SIGMA_0(a0, a1, a2, a3);                                             \
        SIGMA_1(b0, b1, b2, b3);                                             \
        SIGMA_0(c0, c1, c2, c3);                                             \
        SIGMA_1(d0, d1, d2, d3);                                             \
    } while (0)

/* MC (Figure 3) */
#define MC()                                                                 \
    do {                                                                     \
        ADD(a, b);                                                           \
        ADD(c, d);                                                           \
        ALPHA(b);                                                            \
        ALPHA(d);                                                            \
        ADD(b, c);                                                           \
        ADD(d, a);                                                           \
        ALPHA(a);                                                            \
        ALPHA(a);                                                            \
        ALPHA(c);                                                            \
        ALPHA(c);                                                            \
        ADD(a, b);                                                           \
        ADD(c, d);                                                           \
        ADD(b, c);                                                           \
        ADD(d, a);                                                           \
    } while (0)

static void columns(uint8_t *x, uint8_t phase)
{
    LOAD_COLUMNS(x);

    if (phase != AFTER_SHEET) {
        /* an even round, where SR is the identity */
        S();
        MC();
        /* an odd round */
        S();
    }
    if (phase == SLICE)
        SR_SLICE();
    if (phase != BEFORE_SHEET)
        MC();
    if (phase == SLICE)
        INVERSE_SR_SLICE();
    STORE_COLUMNS(x);
}

void saturnin_encrypt(uint8_t r, uint8_t d, const uint8_t *k, uint8_t *x)
{
    uint8_t rotated[32], i;
    uint16_t rc0 = FIRST_CONSTANT(r, d), rc1 = rc0;

    saturnin_rotate_key(rotated, k);
    saturnin_add_key(x, k);
    for (i = 0; i < r; i++) {
        if ((i & 1) == 0) {
            columns(x, SLICE);
            columns(x + 1, SLICE);
            saturnin_add_key(x, rotated);
        } else {
            columns(x, BEFORE_SHEET);
            columns(x + 1, BEFORE_SHEET);
            saturnin_sheet(x, 0);
            columns(x, AFTER_SHEET);
            columns(x + 1, AFTER_SHEET);
            saturnin_sheet(x, 1);
            saturnin_add_key(x, k);
        }
        rc0 = saturnin_rc0(rc0);
        rc1 = saturnin_rc1(rc1);
        x[0] ^= (uint8_t)rc0;
        x[1] ^= (uint8_t)(rc0 >> 8);
        x[16] ^= (uint8_t)rc1;
        x[17] ^= (uint8_t)(rc1 >> 8);
    }
}

#else

#include "words.h"

/* S (Table 1): sigma_0 for a and c, sigma_1 for b and d */
#define S()                                                                  \
    do {                                                                     \
        SIGMA_0(a0, a1, a2, a3);                                             \
        SIGMA_1(b0, b1, b2, b3);                                             \
    } while (0)

/* MC (Figure 3) */
#define MC()                                                                 \
    do {                                                                     \
        ADD_B_TO_A();                                                        \
        ALPHA(b0, b1, b2, b3);                                               \
        ADD_A_TO_B();                                                        \
        ALPHA(a0, a1, a2, a3);                                               \
        ALPHA(a0, a1, a2, a3);                                               \
        ADD_B_TO_A();                                                        \
        ADD_A_TO_B();                                                        \
    } while (0)

void saturnin_encrypt(uint8_t r, uint8_t d, const uint8_t *k, uint8_t *x)
{
    uint32_t key[8];
    uint32_t a0, a1, a2, a3, b0, b1, b2, b3, t;
    uint16_t rc0 = FIRST_CONSTANT(r, d), rc1 = rc0;
    uint8_t i;

    for (i = 0; i < 8; i++)
        key[i] = LOAD(k, i);
    a0 = LOAD(x, 0) ^ key[0];
    a1 = LOAD(x, 1) ^ key[1];
    a2 = LOAD(x, 2) ^ key[2];
    a3 = LOAD(x, 3) ^ key[3];
    b0 = LOAD(x, 4) ^ key[4];
    b1 = LOAD(x, 5) ^ key[5];
    b2 = LOAD(x, 6) ^ key[6];
    b3 = LOAD(x, 7) ^ key[7];

    for (i = 0; i < r; i++) {
        /* round 2i, where SR is the identity */
        S();
        MC();
        /* round 2i + 1 */
        S();
        rc0 = saturnin_rc0(rc0);
        rc1 = saturnin_rc1(rc1);
        if ((i & 1) == 0) {
            SR_SLICE();
            MC();
            INVERSE_SR_SLICE();
            ADD_KEY(ROTATED);
        } else {
            SR_SHEET();
            MC();
            INVERSE_SR_SHEET();
            ADD_KEY(PLAIN);
        }
        a0 ^= rc0 | (uint32_t)rc1 << 16;
    }

    STORE(x, 0, a0);
    STORE(x, 1, a1);
    STORE(x, 2, a2);
    STORE(x, 3, a3);
    STORE(x, 4, b0);
    STORE(x, 5, b1);
    STORE(x, 6, b2);
    STORE(x, 7, b3);
}

#endif
