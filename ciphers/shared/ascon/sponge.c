/*
 * Initialization, absorption and squeezing: SP 800-232, 5.1 to 5.3; Ascon v1.2,
 * Algorithm 2.
 */
#include <string.h>

#include "sponge.h"

void ascon_start(ascon_state *s)
{
    memset(s, 0, sizeof *s);
    ASCON_ADD_CONSTANT(s, 0, ASCON_IV);
    ascon_permute(s, ASCON_ROUNDS);
}

void ascon_absorb(ascon_state *s, const unsigned char *in, size_t len)
{
    while (len >= 8) {
        ascon_add(s, 0, in, 8);
        ascon_permute(s, ASCON_B);
        in += 8;
        len -= 8;
    }
    if (len != 0)
        ascon_add(s, 0, in, (uint8_t)len);
    ascon_add_padding(s, 0, (uint8_t)len);
    ascon_permute(s, ASCON_ROUNDS);
}

void ascon_squeeze(ascon_state *s, unsigned char *out, size_t len)
{
    while (len > 8) {
        ascon_extract(s, 0, out, 8);
        ascon_permute(s, ASCON_B);
        out += 8;
        len -= 8;
    }
    if (len != 0)
        ascon_extract(s, 0, out, (uint8_t)len);
}
