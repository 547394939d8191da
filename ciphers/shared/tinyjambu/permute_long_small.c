/*
 * TinyJAMBU-192 and TinyJAMBU-256, keyed permutation, small: 32 rounds at a
 * time, one loop.  Round i uses bit i modulo klen of the key.
 */
#include "params.h"
#include "tinyjambu.h"

#if defined(__AVR__)

#include "feedback_avr.h"

void tinyjambu_permute(tinyjambu_state *state, const uint8_t *k,
                       uint8_t passes)
{
    uint8_t *s = (uint8_t *)state->s;
    uint8_t words = (uint8_t)(4 * passes), i = 0, j;

    do {
        uint32_t feedback = feedback_avr(s, k + i);

        for (j = 0; j < 12; j++)
            s[j] = s[j + 4];
        memcpy(s + 12, &feedback, 4);
        i = (uint8_t)(i + 4);
        if (i == TINYJAMBU_KEYBYTES)
            i = 0;
    } while (--words != 0);
}

#else

void tinyjambu_permute(tinyjambu_state *state, const uint8_t *k,
                       uint8_t passes)
{
    uint32_t s0 = state->s[0], s1 = state->s[1];
    uint32_t s2 = state->s[2], s3 = state->s[3];
    uint8_t words = (uint8_t)(4 * passes), i = 0;

    do {
        /* StateUpdate, 32 rounds */
        uint32_t s47 = s1 >> 15 | s2 << 17;
        uint32_t s70 = s2 >> 6 | s3 << 26;
        uint32_t s85 = s2 >> 21 | s3 << 11;
        uint32_t s91 = s2 >> 27 | s3 << 5;
        uint32_t feedback = s0 ^ s47 ^ ~(s70 & s85) ^ s91 ^
                            tinyjambu_load32(k + i);

        s0 = s1;
        s1 = s2;
        s2 = s3;
        s3 = feedback;
        i = (uint8_t)(i + 4);
        if (i == TINYJAMBU_KEYBYTES)
            i = 0;
    } while (--words != 0);

    state->s[0] = s0;
    state->s[1] = s1;
    state->s[2] = s2;
    state->s[3] = s3;
}

#endif
