/* The block cipher of COMET. */
#ifndef COMET_H
#define COMET_H

#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "params.h"

/* y = IC(z, y): COMET_BLOCK bytes under a key of 16 bytes */
void comet_cipher(uint8_t *y, const uint8_t *z);

#endif
