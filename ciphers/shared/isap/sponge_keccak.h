/* ISAP-K: Keccak-p[400]; bytes as FIPS 202 has them, bits from above. */
#ifndef SPONGE_H
#define SPONGE_H

#include "keccakp400.h"

typedef keccakp400_state isap_state;

#define ISAP_STATE KECCAKP400_BYTES
#define ISAP_RATE 18u
#define ISAP_RATE_BITS 144

#define isap_permute keccakp400

static inline void isap_add(isap_state *s, const uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i + 1 < n; i = (uint8_t)(i + 2))
        s->a[i / 2] ^= KECCAKP400_LANE(p[i] | (uint16_t)p[i + 1] << 8);
    if (i < n)
        s->a[i / 2] ^= KECCAKP400_LANE(p[i]);
}

static inline void isap_extract(const isap_state *s, uint8_t *p, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        p[i] = KECCAKP400_GET(s, i);
}

static inline void isap_crypt(const isap_state *s, uint8_t *out,
                              const uint8_t *in, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        out[i] = in[i] ^ KECCAKP400_GET(s, i);
}

/* i and n are even */
static inline void isap_replace(isap_state *s, uint8_t i, const uint8_t *p,
                                uint8_t n)
{
    for (; n != 0; n = (uint8_t)(n - 2)) {
        s->a[i / 2] = KECCAKP400_LANE(p[0] | (uint16_t)p[1] << 8);
        i = (uint8_t)(i + 2);
        p += 2;
    }
}

#define isap_add_padding(s, n) KECCAKP400_ADD(s, n, 0x80)
#define isap_add_bit(s, bit) KECCAKP400_ADD(s, 0, (uint8_t)((bit) << 7))
#define isap_separate(s) KECCAKP400_ADD(s, KECCAKP400_BYTES - 1, 0x01)

#endif
