/*
 * The masks of Elephant (section 2.2 of the specification).
 *
 * phi_1 moves all bytes up by one and adds a last one, so that
 * phi_1^a(P(K || 0)), for a = 0, 1, 2, ..., are windows of one sequence of
 * bytes.  Three windows make mask_K^{a,0}, mask_K^{a,1} and mask_K^{a,2}, as
 * phi_2 = phi_1 + id and phi_2^2 = phi_1^2 + id.
 */
#ifndef ELEPHANT_MASK_H
#define ELEPHANT_MASK_H

#include <stdint.h>
#include <string.h>

#include "instance.h"
#include "permutation.h"

typedef struct {
    uint8_t x[BLOCKBYTES + 2];
} elephant_mask;

/* a <- 0; expanded is P(K || 0) */
static inline void mask_start(elephant_mask *m, const uint8_t *expanded)
{
    memcpy(m->x, expanded, BLOCKBYTES);
    m->x[BLOCKBYTES] = (uint8_t)(PHI_1(m->x));
    m->x[BLOCKBYTES + 1] = (uint8_t)(PHI_1(m->x + 1));
}

/* a <- a + 1 */
static inline void mask_next(elephant_mask *m)
{
    memmove(m->x, m->x + 1, BLOCKBYTES + 1);
    m->x[BLOCKBYTES + 1] = (uint8_t)(PHI_1(m->x + 1));
}

/* Byte i of mask_K^{a,b} */
static inline uint8_t mask_byte(const elephant_mask *m, uint8_t b, uint8_t i)
{
    return (uint8_t)(b == 0 ? m->x[i] : m->x[i] ^ m->x[i + b]);
}

#endif
