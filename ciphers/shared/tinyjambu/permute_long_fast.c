/*
 * TinyJAMBU-192 and TinyJAMBU-256, keyed permutation, fast: 128 rounds without
 * moving the state (see permute_fast.c).  They use two 64-bit parts of the
 * key, which has three or four: after the last comes the first.
 */
#include "params.h"
#include "tinyjambu.h"

#if defined(__AVR__)

#include "feedback_avr.h"

/* Reads the state from memory, where it can be taken at any byte, rather than
 * from registers. */
#define FORGET_REGISTERS() __asm__ volatile("" ::: "memory")

/* The feedback goes to the word after the state and, for the next pass, to
 * the word it replaces. */
#define ROUNDS32(i, j)                                                       \
    do {                                                                     \
        uint32_t feedback_;                                                  \
                                                                             \
        FORGET_REGISTERS();                                                  \
        feedback_ = feedback_avr(s + 4 * (i), k + part + 4 * (j));           \
        memcpy(s + 4 * (i), &feedback_, 4);                                  \
        if ((i) != 3)                                                        \
            memcpy(s + 16 + 4 * (i), &feedback_, 4);                         \
    } while (0)

void tinyjambu_permute(tinyjambu_state *state, const uint8_t *k,
                       uint8_t passes)
{
    uint8_t s[28], part = 0;

    memcpy(s, state->s, 16);
    do {
        ROUNDS32(0, 0);
        ROUNDS32(1, 1);
        part = part == TINYJAMBU_KEYBYTES - 8 ? 0 : (uint8_t)(part + 8);
        ROUNDS32(2, 0);
        ROUNDS32(3, 1);
        part = part == TINYJAMBU_KEYBYTES - 8 ? 0 : (uint8_t)(part + 8);
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
    uint32_t words[TINYJAMBU_KEYBYTES / 4];
    const uint32_t *const end = words + TINYJAMBU_KEYBYTES / 4, *w = words;
    uint8_t i;

    for (i = 0; i < TINYJAMBU_KEYBYTES / 4; i++)
        words[i] = ~tinyjambu_load32(k + 4 * i);
    do {
        ROUNDS32(s0, s1, s2, s3, w[0]);
        ROUNDS32(s1, s2, s3, s0, w[1]);
        w += 2;
        if (w == end)
            w = words;
        ROUNDS32(s2, s3, s0, s1, w[0]);
        ROUNDS32(s3, s0, s1, s2, w[1]);
        w += 2;
        if (w == end)
            w = words;
    } while (--passes != 0);

    state->s[0] = s0;
    state->s[1] = s1;
    state->s[2] = s2;
    state->s[3] = s3;
}

#endif
