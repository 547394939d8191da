/* SKINNY-128, decryption. */
#include "skinny128.h"
#include "skinny128_round.h"

#if SKINNY_TK == 3
void skinny128_decrypt(uint8_t *block, const uint8_t *tk1, const uint8_t *tk2,
                       const uint8_t *tk3)
#else
void skinny128_decrypt(uint8_t *block, const uint8_t *tk1, const uint8_t *tk2)
#endif
{
    skinny128_state x;
    skinny128_tweakey t;
    uint8_t rc = 0, i;

    t.top = 0;
    skinny128_set_tweakey(&t, 0, tk1);
    skinny128_set_tweakey(&t, 1, tk2);
#if SKINNY_TK == 3
    skinny128_set_tweakey(&t, 2, tk3);
#endif
    for (i = 0; i < SKINNY_ROUNDS; i++) {
        rc = skinny_next_constant(rc, 6);
        skinny128_next_tweakey(&t);
    }
    skinny128_pack(&x, block);
    for (i = 0; i < SKINNY_ROUNDS; i++) {
        skinny128_previous_tweakey(&t);
        skinny128_round_inverse(&x, &t, rc);
        rc = skinny_previous_constant(rc, 6);
    }
    skinny128_unpack(block, &x);
}
