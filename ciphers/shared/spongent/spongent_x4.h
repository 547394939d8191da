/*
 * Four Spongent-pi in parallel, for 32-bit cores: word i holds byte i of the
 * four states.
 */
#ifndef SPONGENT_X4_H
#define SPONGENT_X4_H

#include "spongent.h"

void spongent_x4(uint32_t *x);

#endif
