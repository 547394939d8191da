/*
 * The keyed permutation of TinyJAMBU.
 *
 * "The specification" is TinyJAMBU: A Family of Lightweight Authenticated
 * Encryption Algorithms, submission to the NIST LWC project, round 2.
 */
#ifndef TINYJAMBU_H
#define TINYJAMBU_H

#include <stddef.h>
#include <stdint.h>

/*
 * Number of rounds, in passes of 128 rounds: one pass moves the state once
 * round, and uses every bit of a 128-bit key once.
 */
#define TINYJAMBU_P384 3u
#define TINYJAMBU_P640 5u
#define TINYJAMBU_P1024 8u
#define TINYJAMBU_P1152 9u
#define TINYJAMBU_P1280 10u

/* State bits s_0 .. s_127: bit j of s[i] is s_(32i+j). */
typedef struct {
    uint32_t s[4];
} tinyjambu_state;

/* State bits s_(8i) .. s_(8i+7) */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TINYJAMBU_BYTE(state, i) (((uint8_t *)(state)->s)[(i) ^ 3])
#else
#define TINYJAMBU_BYTE(state, i) (((uint8_t *)(state)->s)[i])
#endif

/* P_n of section 3.2.3 with n = 128 * passes; k is the key, of 16 bytes in
 * permute_small.c and permute_fast.c, of TINYJAMBU_KEYBYTES in the files
 * permute_long_*.c. */
void tinyjambu_permute(tinyjambu_state *state, const uint8_t *k,
                       uint8_t passes);

/* The first byte of a string holds its bits 0 to 7, lowest bit first. */
static inline uint32_t tinyjambu_load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void tinyjambu_store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

#endif
