/*
 * Poly1305: arithmetic modulo 2^130 - 5, without branches that depend on
 * data.
 */
#include "poly1305.h"

#define MASK ((poly_limb)(((poly_limb)1 << POLY_BITS) - 1))

#if POLY_BITS == 13
typedef uint32_t product;
#else
typedef uint64_t product;
#endif

/* The 16 bytes of a block, and above them a bit. */
static void load(poly_limb *x, const uint8_t *p, uint8_t above)
{
    product rest = 0;
    uint8_t bits = 0, i, j;

    for (i = 0; i < 16; i = (uint8_t)(i + sizeof *x)) {
        poly_limb word = 0;

        for (j = sizeof *x; j > 0; j--)
            word = (poly_limb)(word << 8 | p[i + j - 1]);
        rest |= (product)word << bits;
        bits = (uint8_t)(bits + 8 * sizeof *x);
        for (; bits >= POLY_BITS; bits = (uint8_t)(bits - POLY_BITS)) {
            *x++ = (poly_limb)rest & MASK;
            rest >>= POLY_BITS;
        }
    }
    *x = (poly_limb)(rest | (product)above << bits);
}

/*
 * h = h r, up to multiples of 2^130 - 5.  Limbs of h are below 2^(BITS + 1)
 * but for a little; so five products with limbs of r5 fit into 32 bits, and
 * not ten: with 13 bits, what is above a limb is put aside halfway.
 */
static void multiply(poly1305 *p)
{
    poly_limb t[POLY_LIMBS];
    product carry = 0;
    uint8_t i, j;

    for (i = 0; i < POLY_LIMBS; i++) {
        product sum = carry;

        carry = 0;
        for (j = 0; j < POLY_LIMBS; j++) {
#if POLY_BITS == 13
            if (j == POLY_LIMBS / 2) {
                carry = sum >> POLY_BITS;
                sum &= MASK;
            }
#endif
            sum += (product)p->h[j] *
                   (j <= i ? p->r[i - j] : p->r5[POLY_LIMBS + i - j]);
        }
        t[i] = (poly_limb)sum & MASK;
        carry += sum >> POLY_BITS;
    }
    carry = carry * 5 + t[0];
    p->h[0] = (poly_limb)carry & MASK;
    p->h[1] = (poly_limb)(t[1] + (carry >> POLY_BITS));
    for (i = 2; i < POLY_LIMBS; i++)
        p->h[i] = t[i];
}

void poly1305_start(poly1305 *p, const uint8_t *key)
{
    uint8_t r[16], i;

    for (i = 0; i < 16; i++)
        r[i] = key[i];
    for (i = 3; i < 16; i = (uint8_t)(i + 4))
        r[i] &= 0x0F;
    for (i = 4; i < 16; i = (uint8_t)(i + 4))
        r[i] &= 0xFC;
    load(p->r, r, 0);
    for (i = 0; i < POLY_LIMBS; i++) {
        p->r5[i] = (poly_limb)(5 * p->r[i]);
        p->h[i] = 0;
    }
}

static void add_block(poly1305 *p, const uint8_t *x)
{
    poly_limb m[POLY_LIMBS];
    uint8_t i;

    load(m, x, 1);
    for (i = 0; i < POLY_LIMBS; i++)
        p->h[i] += m[i];
    multiply(p);
}

void poly1305_add(poly1305 *p, const uint8_t *x, size_t len)
{
    for (; len >= 16; len -= 16) {
        add_block(p, x);
        x += 16;
    }
    if (len != 0) {
        uint8_t last[16], i;

        for (i = 0; i < 16; i++)
            last[i] = i < len ? x[i] : 0;
        add_block(p, last);
    }
}

void poly1305_finish(poly1305 *p, const uint8_t *s, uint8_t *tag)
{
    poly_limb g[POLY_LIMBS], carry, mask;
    product rest = 0;
    uint16_t sum = 0;
    uint8_t bits = 0, i, pass;

    for (pass = 0; pass < 2; pass++) {
        carry = 0;
        for (i = 0; i < POLY_LIMBS; i++) {
            carry = (poly_limb)(carry + p->h[i]);
            p->h[i] = carry & MASK;
            carry >>= POLY_BITS;
        }
        p->h[0] = (poly_limb)(p->h[0] + 5 * carry);
    }

    /* h + 5 >= 2^130 means that h is not below the modulus */
    carry = 5;
    for (i = 0; i < POLY_LIMBS; i++) {
        carry = (poly_limb)(carry + p->h[i]);
        g[i] = carry & MASK;
        carry >>= POLY_BITS;
    }
    mask = (poly_limb)(0 - carry);

    for (i = 0, pass = 0; i < 16; i++) {
        for (; bits < 8; bits = (uint8_t)(bits + POLY_BITS), pass++)
            rest |= (product)(p->h[pass] ^
                              (mask & (p->h[pass] ^ g[pass]))) << bits;
        sum = (uint16_t)((sum >> 8) + (uint8_t)rest + s[i]);
        tag[i] = (uint8_t)sum;
        rest >>= 8;
        bits = (uint8_t)(bits - 8);
    }
}
