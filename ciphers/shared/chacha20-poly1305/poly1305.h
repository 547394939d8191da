/*
 * Poly1305 (RFC 8439, section 2.5) of whole blocks.
 *
 * A number is kept in limbs of 26 bits, or of 13 where a product of 16 bits
 * is what the core has.
 */
#ifndef POLY1305_H
#define POLY1305_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX <= 0xFFFFF /* AVR's is 16 bits, MSP430's 16 or 20 */
#define POLY_BITS 13
typedef uint16_t poly_limb;
#else
#define POLY_BITS 26
typedef uint32_t poly_limb;
#endif

#define POLY_LIMBS (130 / POLY_BITS)

typedef struct {
    poly_limb r[POLY_LIMBS], r5[POLY_LIMBS]; /* r5 = 5 r */
    poly_limb h[POLY_LIMBS];
} poly1305;

/* With r, the first 16 bytes of the key, which this clamps. */
void poly1305_start(poly1305 *p, const uint8_t *key);

/* The blocks of x, the last one filled with zeros. */
void poly1305_add(poly1305 *p, const uint8_t *x, size_t len);

/* The tag, 16 bytes, with s, the last 16 bytes of the key. */
void poly1305_finish(poly1305 *p, const uint8_t *s, uint8_t *tag);

#endif
