/*
 * PHOTON_256, byte by byte as specified, on bit slices.
 *
 * A row of the state is a 32-bit word: bit j of byte b, the lowest byte being
 * byte 0, is bit b of cell X[i, j].
 */
#include "nibble_slices.h"
#include "photon256.h"

/* AddConstant: RC[k] ^ IC[i] */
static const uint8_t rc[12] = {1, 3, 7, 14, 13, 11, 6, 12, 9, 2, 5, 10};
static const uint8_t ic[8] = {0, 1, 3, 7, 15, 14, 12, 8};

static uint32_t row(uint8_t x0, uint8_t x1, uint8_t x2, uint8_t x3)
{
    return (uint32_t)x0 | (uint32_t)x1 << 8 | (uint32_t)x2 << 16 |
           (uint32_t)x3 << 24;
}

/* X[i, j] <- X[i, (j + n) mod 8], for a slice of a row */
#define ROTATE(x, n) (uint8_t)((x) >> (n) | (x) << (8 - (n)))

static uint32_t shift_row(uint8_t x0, uint8_t x1, uint8_t x2, uint8_t x3,
                          uint8_t i)
{
    if ((i & 1) != 0) {
        x0 = ROTATE(x0, 1);
        x1 = ROTATE(x1, 1);
        x2 = ROTATE(x2, 1);
        x3 = ROTATE(x3, 1);
    }
    if ((i & 2) != 0) {
        x0 = ROTATE(x0, 2);
        x1 = ROTATE(x1, 2);
        x2 = ROTATE(x2, 2);
        x3 = ROTATE(x3, 2);
    }
    if ((i & 4) != 0) {
        x0 = ROTATE(x0, 4);
        x1 = ROTATE(x1, 4);
        x2 = ROTATE(x2, 4);
        x3 = ROTATE(x3, 4);
    }
    return row(x0, x1, x2, x3);
}

/* The cells of a row times x, modulo x^4 + x + 1. */
static inline uint32_t times_x(uint32_t w)
{
    uint8_t top = (uint8_t)(w >> 24);

    return (w << 8 | top) ^ (uint32_t)top << 8;
}

void photon256(uint8_t *x)
{
    uint32_t s[16]; /* the rows of X and of M^8 X */
    uint32_t *p;
    uint8_t i, k;

    for (i = 0; i < 8; i++)
        s[8 + i] = nibbles_load(x + 4 * i);

    for (k = 0; k < 12; k++) {
        for (i = 0; i < 8; i++) {
            uint32_t w = s[8 + i];
            uint8_t x0 = (uint8_t)w, x1 = (uint8_t)(w >> 8);
            uint8_t x2 = (uint8_t)(w >> 16), x3 = (uint8_t)(w >> 24);
            uint8_t c = rc[k] ^ ic[i];

            /* AddConstant, to column 0 */
            x0 ^= c & 1;
            x1 ^= c >> 1 & 1;
            x2 ^= c >> 2 & 1;
            x3 ^= c >> 3;
            PHOTON256_SUBCELLS(uint8_t, x0, x1, x2, x3);
            s[i] = shift_row(x0, x1, x2, x3, i);
        }

        /*
         * MixColumnSerial: M moves the rows up by one, and its last row is
         * (2, 4, 2, 11, 2, 8, 5, 6).  What moves here is p.
         */
        for (p = s; p != s + 8; p++) {
            uint32_t w = p[3] ^ p[5];                 /* 8 */

            w = times_x(w) ^ p[1] ^ p[6] ^ p[7];      /* 4 */
            w = times_x(w) ^ p[0] ^ p[2] ^ p[3] ^ p[4] ^ p[7];
            p[8] = times_x(w) ^ p[3] ^ p[6];
        }
    }

    for (i = 0; i < 8; i++)
        nibbles_store(x + 4 * i, s[8 + i]);
}
