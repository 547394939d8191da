/*
 * TinyJAMBU-128, keyed permutation, fast: 128 rounds without moving the
 * state.  After 32 rounds the state words would be (s1, s2, s3, feedback);
 * writing the feedback over s0 and renaming the words saves the move.
 */
#include "tinyjambu.h"

#if defined(__AVR__)

#include "feedback_avr.h"

/* Reads the state from memory, where it can be taken at any byte, rather than
 * from registers. */
#define FORGET_REGISTERS() __asm__ volatile("" ::: "memory")

/* The feedback goes to the word after the state and, for the next pass, to
 * the word it replaces: the four words of the state always lie in a row. */
void tinyjambu_permute(tinyjambu_state *state, const uint8_t *k,
                       uint8_t passes)
{
    uint8_t s[28];
    uint32_t feedback;

    memcpy(s, state->s, 16);
    do {
        FORGET_REGISTERS();
        feedback = feedback_avr(s, k);
        memcpy(s + 16, &feedback, 4);
        memcpy(s, &feedback, 4);
        FORGET_REGISTERS();
        feedback = feedback_avr(s + 4, k + 4);
        memcpy(s + 20, &feedback, 4);
        memcpy(s + 4, &feedback, 4);
        FORGET_REGISTERS();
        feedback = feedback_avr(s + 8, k + 8);
        memcpy(s + 24, &feedback, 4);
        memcpy(s + 8, &feedback, 4);
        FORGET_REGISTERS();
        feedback = feedback_avr(s + 12, k + 12);
        memcpy(s + 12, &feedback, 4);
    } while (--passes != 0);
    memcpy(state->s, s, 16);
}

#else

/* 32 rounds of StateUpdate; k is the key word complemented, which is the
 * complement of the AND term. */
#define ROUNDS32(s0, s1, s2, s3, k)                                          \
    do {                                                                     \
        s0 ^= (s1 >> 15 | s2 << 17) ^                                        \
              ((s2 >> 6 | s3 << 26) & (s2 >> 21 | s3 << 11)) ^               \
              (s2 >> 27 | s3 << 5) ^ (k);                                    \
    } while (0)

void tinyjambu_permute(tinyjambu_state *state, const uint8_t *k,
                       uint8_t passes)
{
    uint32_t s0 = state->s[0], s1 = state->s[1];
    uint32_t s2 = state->s[2], s3 = state->s[3];
    const uint32_t k0 = ~tinyjambu_load32(k);
    const uint32_t k1 = ~tinyjambu_load32(k + 4);
    const uint32_t k2 = ~tinyjambu_load32(k + 8);
    const uint32_t k3 = ~tinyjambu_load32(k + 12);

    do {
        ROUNDS32(s0, s1, s2, s3, k0);
        ROUNDS32(s1, s2, s3, s0, k1);
        ROUNDS32(s2, s3, s0, s1, k2);
        ROUNDS32(s3, s0, s1, s2, k3);
    } while (--passes != 0);

    state->s[0] = s0;
    state->s[1] = s1;
    state->s[2] = s2;
    state->s[3] = s3;
}

#endif
