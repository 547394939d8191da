/*
 * The permutations Spongent-pi[160] and Spongent-pi[176] (sections 2.3.1 and
 * 2.4.1 of the Elephant v1.1 specification; A. Bogdanov et al., "SPONGENT: A
 * Lightweight Hash Function", CHES 2011).
 *
 * The initial values of lCounter are those of section 4.3.1 and of the known
 * answers; sections 2.3.1 and 2.4.1 of v1.1 print others.
 *
 * Bit j of the state is bit j mod 8 of byte j / 8.  SPONGENT_BITS, which is
 * 160 or 176, is in instance.h.
 */
#ifndef SPONGENT_H
#define SPONGENT_H

#include <stdint.h>

#include "instance.h"

#define SPONGENT_BYTES (SPONGENT_BITS / 8)

#if SPONGENT_BITS == 160
#define SPONGENT_ROUNDS 80
#define LCOUNTER_START 0x75
#else
#define SPONGENT_ROUNDS 90
#define LCOUNTER_START 0x45
#endif

void spongent(uint8_t *x);

/*
 * sBoxLayer on bit slices, x0 the lowest bits of the nibbles.  The result is
 * x3, x1, x0, x2.
 */
#define SPONGENT_SBOXLAYER(type, x0, x1, x2, x3)                             \
    do {                                                                     \
        x0 ^= (type)(x1 | x2);                                               \
        x1 ^= (type)(x0 | x3);                                               \
        x3 ^= x2;                                                            \
        x1 = (type)~x1;                                                      \
        x2 ^= (type)(x1 | x3);                                               \
        x1 ^= x3;                                                            \
        x3 ^= x0;                                                            \
        x0 ^= (type)(x1 | x2);                                               \
        x2 ^= (type)(x0 & x3);                                               \
    } while (0)

#endif
