/* Shadow-512 and Shadow-384, multiple LS-designs (section 3.3, Algorithm 2)
 */
#include "components.h"
#include "spook.h"

#define STEPS 6

void shadow(uint8_t *s)
{
    uint32_t x[SHADOW_BUNDLES][4];
    uint8_t w = FIRST_CONSTANT, step, b, i;

    for (b = 0; b < SHADOW_BUNDLES; b++)
        for (i = 0; i < 4; i++)
            x[b][i] = LOAD32(s + 16 * b + 4 * i);

    for (step = 0; step < STEPS; step++) {
        /* round A, and the S-box layer of round B */
        for (b = 0; b < SHADOW_BUNDLES; b++) {
            spook_s(x[b]);
            spook_l(x[b]);
            spook_l(x[b] + 2);
            ADD_CONSTANT(w, x[b], b);
            spook_s(x[b]);
        }
        w = NEXT_CONSTANT(w);

        /* diffusion layer, and the constants of bit b in bundle b */
        for (i = 0; i < 4; i++) {
            const uint8_t bit = w >> i & 1;
#if SHADOW_BUNDLES == 4
            const uint32_t u = x[0][i] ^ x[1][i], v = x[2][i] ^ x[3][i];
            const uint32_t a = x[1][i] ^ v, c = u ^ x[3][i];

            x[1][i] = x[0][i] ^ v ^ (uint8_t)(bit << 1);
            x[3][i] = u ^ x[2][i] ^ (uint8_t)(bit << 3);
#else
            const uint32_t a = x[0][i] ^ x[1][i] ^ x[2][i];
            const uint32_t c = x[0][i] ^ x[1][i];

            x[1][i] = x[0][i] ^ x[2][i] ^ (uint8_t)(bit << 1);
#endif
            x[0][i] = a ^ bit;
            x[2][i] = c ^ (uint8_t)(bit << 2);
        }
        w = NEXT_CONSTANT(w);
    }

    for (b = 0; b < SHADOW_BUNDLES; b++)
        for (i = 0; i < 4; i++)
            STORE32(s + 16 * b + 4 * i, x[b][i]);
}
