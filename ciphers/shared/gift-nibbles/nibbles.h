/*
 * GIFT-128 with its state in the order of nibbles.
 *
 * The paper of GIFT (S. Banik et al., "GIFT: A Small Present", CHES 2017) and
 * the modes that refer to it number the bits of a block b_127 .. b_0, byte 0
 * being b_7 .. b_0, and the nibble i is b_(4i+3) .. b_(4i).  The bit-sliced
 * form (GIFT-COFB, section 2.4.1) has b_(4i+j) in bit i of the slice S_j, and
 * the slices S_0 .. S_3 one after another, their highest byte first.
 */
#ifndef NIBBLES_H
#define NIBBLES_H

#include <stdint.h>

/* Exchanges the bits under the mask with those n places above. */
#define NIBBLES_SWAPMOVE(x, mask, n)                                         \
    do {                                                                     \
        uint32_t t_ = ((x) ^ (x) >> (n)) & (mask);                           \
                                                                             \
        (x) ^= t_ ^ t_ << (n);                                               \
    } while (0)

/*
 * Eight nibbles, p[0] the lowest two, from and to a byte of every slice.  In
 * the index (n_2 n_1 n_0 j_1 j_0) of a bit, bit j of nibble n, every SWAPMOVE
 * exchanges two places; the last leaves (j_0 j_1 n_2 n_1 n_0).
 */
static inline void nibbles_to_slices(const uint8_t *p, uint8_t *s0,
                                     uint8_t *s1, uint8_t *s2, uint8_t *s3)
{
    uint32_t x = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
                 (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

    NIBBLES_SWAPMOVE(x, 0x0a0a0a0au, 3);
    NIBBLES_SWAPMOVE(x, 0x00cc00ccu, 6);
    NIBBLES_SWAPMOVE(x, 0x0000f0f0u, 12);
    *s0 = (uint8_t)x;
    *s2 = (uint8_t)(x >> 8);
    *s1 = (uint8_t)(x >> 16);
    *s3 = (uint8_t)(x >> 24);
}

static inline void slices_to_nibbles(uint8_t *p, uint8_t s0, uint8_t s1,
                                     uint8_t s2, uint8_t s3)
{
    uint32_t x = (uint32_t)s0 | (uint32_t)s2 << 8 | (uint32_t)s1 << 16 |
                 (uint32_t)s3 << 24;

    NIBBLES_SWAPMOVE(x, 0x0000f0f0u, 12);
    NIBBLES_SWAPMOVE(x, 0x00cc00ccu, 6);
    NIBBLES_SWAPMOVE(x, 0x0a0a0a0au, 3);
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

#endif
