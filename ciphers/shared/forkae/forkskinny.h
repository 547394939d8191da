/*
 * The forkcipher ForkSkinny (section 4.1 of the ForkAE specification).
 *
 * "params.h" has
 *
 *   FORK_N                           bytes of a block, n / 8
 *   FORK_T                           bytes of a tweakey, t / 8: key and tweak
 *   FORK_RINIT, FORK_R0, FORK_R1     rounds before forking, of C0, of C1
 */
#ifndef FORKSKINNY_H
#define FORKSKINNY_H

#include <stdint.h>

#include "params.h"

/* Output selector 1: C1.  c1 may be m. */
void forkskinny_right(uint8_t *c1, const uint8_t *m, const uint8_t *tk);

/* Output selector b: C0 and C1.  Either may be m. */
void forkskinny_both(uint8_t *c0, uint8_t *c1, const uint8_t *m,
                     const uint8_t *tk);

/* The inverse for C0, output selector b: M and C1.  Either may be c0. */
void forkskinny_inverse(uint8_t *m, uint8_t *c1, const uint8_t *c0,
                        const uint8_t *tk);

#endif
