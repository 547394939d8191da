/*
 * Spongent-pi, on bit slices: pLayer moves bit b of nibble i to place
 * bn / 4 + i, n being the number of bits, which is to write the four slices
 * of the state one after the other.
 */
#include <string.h>

#include "nibble_slices.h"
#include "spongent.h"

static uint8_t reverse(uint8_t x)
{
    x = (uint8_t)((x & 0x0f) << 4 | x >> 4);
    x = (uint8_t)((x & 0x33) << 2 | (x >> 2 & 0x33));
    return (uint8_t)((x & 0x55) << 1 | (x >> 1 & 0x55));
}

void spongent(uint8_t *x)
{
    /* the state before pLayer, in whole words */
    uint8_t y[(SPONGENT_BYTES + 3) / 4 * 4] = {0};
    uint8_t counter = LCOUNTER_START, round, i;

    for (round = 0; round < SPONGENT_ROUNDS; round++) {
        uint_fast8_t s[4]; /* only the low eight bits count */
#if SPONGENT_BITS == 176
        uint_fast8_t high1 = 0, high3 = 0;
#endif

        memcpy(y, x, SPONGENT_BYTES);
        y[0] ^= counter;
        y[SPONGENT_BYTES - 1] ^= reverse(counter);
        /* lCounter: x^7 + x^6 + 1 */
        counter = (uint8_t)((counter << 1 & 0x7f) |
                            ((counter >> 6 ^ counter >> 5) & 1));

        for (i = 0; i < SPONGENT_BYTES / 4; i++) {
            nibbles_slices(s, y + 4 * i);
            SPONGENT_SBOXLAYER(uint_fast8_t, s[0], s[1], s[2], s[3]);
#if SPONGENT_BITS == 160
            x[i] = (uint8_t)s[3];
            x[5 + i] = (uint8_t)s[1];
            x[10 + i] = (uint8_t)s[0];
            x[15 + i] = (uint8_t)s[2];
#else /* slices 1 and 3 begin in the middle of a byte */
            x[i] = (uint8_t)s[3];
            x[5 + i] = (uint8_t)(s[1] << 4 | high1);
            high1 = (uint8_t)s[1] >> 4;
            x[11 + i] = (uint8_t)s[0];
            x[16 + i] = (uint8_t)(s[2] << 4 | high3);
            high3 = (uint8_t)s[2] >> 4;
#endif
        }
#if SPONGENT_BITS == 176
        /* the last half of a word */
        nibbles_slices(s, y + 20);
        SPONGENT_SBOXLAYER(uint_fast8_t, s[0], s[1], s[2], s[3]);
        x[5] |= s[3] & 0x0f;
        x[10] = (uint8_t)(s[1] << 4 | high1);
        x[16] |= s[0] & 0x0f;
        x[21] = (uint8_t)(s[2] << 4 | high3);
#endif
    }
}
