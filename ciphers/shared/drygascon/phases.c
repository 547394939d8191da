/* DrySponge: Algorithms 7 and 8 of the DryGASCON specification. */
#include "drysponge.h"

void drysponge_absorb(drysponge *s, const uint8_t *b, size_t len,
                      uint8_t domain, uint8_t finalize)
{
    while (len > DRYGASCON_BLOCK) {
        drysponge_f(s, b, DRYGASCON_BLOCK, 0, 0, DRYGASCON_ROUNDS);
        b += DRYGASCON_BLOCK;
        len -= DRYGASCON_BLOCK;
    }
    drysponge_f(s, b, (uint8_t)len, domain, finalize, DRYGASCON_ROUNDS);
}

void drysponge_squeeze(drysponge *s, uint8_t *out, uint8_t n)
{
    uint8_t i;

    for (;;) {
        for (i = 0; i < DRYGASCON_BLOCK; i++)
            out[i] = DRYSPONGE_BYTE(s->r, i);
        n = (uint8_t)(n - DRYGASCON_BLOCK);
        if (n == 0)
            return;
        out += DRYGASCON_BLOCK;
        drysponge_g(s, DRYGASCON_ROUNDS);
    }
}
