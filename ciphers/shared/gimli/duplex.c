/* Gimli: blocks of a string (sections 2.10 and 2.11 of the specification). */
#include "gimli.h"

static inline uint32_t load32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void store32(unsigned char *p, uint32_t x)
{
    p[0] = (unsigned char)x;
    p[1] = (unsigned char)(x >> 8);
    p[2] = (unsigned char)(x >> 16);
    p[3] = (unsigned char)(x >> 24);
}

void gimli_process(gimli_state *g, unsigned char *out, const unsigned char *in,
                   size_t len, uint8_t what)
{
    uint8_t i;

    for (;;) {
        uint8_t n = (uint8_t)(len < GIMLI_RATE ? len : GIMLI_RATE);

        for (i = 0; i + 4 <= n; i = (uint8_t)(i + 4)) {
            uint32_t x = load32(in + i), y = x ^ g->s[i / 4];

            g->s[i / 4] = what == GIMLI_DECRYPT ? x : y;
            if (what != GIMLI_ABSORB)
                store32(out + i, y);
        }
        for (; i < n; i++) {
            uint8_t x = in[i], y = (uint8_t)(x ^ GIMLI_BYTE(g, i));

            GIMLI_BYTE(g, i) = what == GIMLI_DECRYPT ? x : y;
            if (what != GIMLI_ABSORB)
                out[i] = y;
        }
        if (n != GIMLI_RATE) {          /* the final non-full block */
            GIMLI_BYTE(g, n) ^= 1;
            GIMLI_BYTE(g, GIMLI_BYTES - 1) ^= 1;
        }
        gimli(g);
        if (n != GIMLI_RATE)
            return;
        in += GIMLI_RATE;
        if (what != GIMLI_ABSORB)
            out += GIMLI_RATE;
        len -= GIMLI_RATE;
    }
}
