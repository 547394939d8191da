/*
 * PHOTON_256 as the code of ORANGE's submission, and its known answers, have
 * it: the bytes of the words that ShiftRows rotates are not in their order.
 *
 * This was found from the known answers alone.  A row b0 b1 b2 b3 is loaded
 * as b0 b3 b2 b1, lowest byte first, rotated as specified, and a word
 * w0 w1 w2 w3 is stored as w2 w3 w0 w1: cells 2 and 3 change places with
 * cells 6 and 7, and row i is rotated by i + 4 cells.
 */
#include "photon256.h"

/* AddConstant: RC[k] ^ IC[i] */
static const uint8_t rc[12] = {1, 3, 7, 14, 13, 11, 6, 12, 9, 2, 5, 10};
static const uint8_t ic[8] = {0, 1, 3, 7, 15, 14, 12, 8};

/* Eight cells, the first one lowest, times x modulo x^4 + x + 1 */
static uint32_t times_x(uint32_t w)
{
    uint32_t top = w >> 3 & 0x11111111u;

    return (w << 1 & 0xeeeeeeeeu) ^ top ^ top << 1;
}

/* SubCells of eight cells */
static uint32_t sub_cells(uint32_t w)
{
    uint32_t x0 = w & 0x11111111u, x1 = w >> 1 & 0x11111111u;
    uint32_t x2 = w >> 2 & 0x11111111u, x3 = w >> 3 & 0x11111111u;

    PHOTON256_SUBCELLS(uint32_t, x0, x1, x2, x3);
    return (x0 & 0x11111111u) | (x1 & 0x11111111u) << 1 |
           (x2 & 0x11111111u) << 2 | (x3 & 0x11111111u) << 3;
}

void photon256(uint8_t *x)
{
    uint32_t s[16]; /* the rows of X and of M^8 X */
    uint8_t i, k;

    for (i = 0; i < 8; i++)
        s[8 + i] = (uint32_t)x[4 * i] | (uint32_t)x[4 * i + 1] << 8 |
                   (uint32_t)x[4 * i + 2] << 16 |
                   (uint32_t)x[4 * i + 3] << 24;

    for (k = 0; k < 12; k++) {
        for (i = 0; i < 8; i++) {
            uint32_t w = sub_cells(s[8 + i] ^ rc[k] ^ ic[i]);
            uint8_t n = (uint8_t)((4 * i + 16) & 31);

            w = (w & 0x00ff00ffu) | (w & 0x0000ff00u) << 16 |
                (w & 0xff000000u) >> 16;
            s[i] = w >> n | w << (-n & 31);
        }
        /* MixColumnSerial, eight times the row (2, 4, 2, 11, 2, 8, 5, 6) */
        for (i = 0; i < 8; i++) {
            const uint32_t *p = s + i;
            uint32_t w = p[3] ^ p[5];                         /* 8 */

            w = times_x(w) ^ p[1] ^ p[6] ^ p[7];              /* 4 */
            w = times_x(w) ^ p[0] ^ p[2] ^ p[3] ^ p[4] ^ p[7]; /* 2 */
            s[8 + i] = times_x(w) ^ p[3] ^ p[6];
        }
    }

    for (i = 0; i < 8; i++) {
        x[4 * i] = (uint8_t)s[8 + i];
        x[4 * i + 1] = (uint8_t)(s[8 + i] >> 8);
        x[4 * i + 2] = (uint8_t)(s[8 + i] >> 16);
        x[4 * i + 3] = (uint8_t)(s[8 + i] >> 24);
    }
}
