/* Romulus-H (section 2.4.6), fed piece by piece. */
#ifndef ROMULUS_HASH_H
#define ROMULUS_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t l[16];
    uint8_t tk[48]; /* R || the block being filled */
    uint8_t n;      /* bytes of that block */
} romulus_h;

void romulus_h_start(romulus_h *h);
void romulus_h_update(romulus_h *h, const uint8_t *m, size_t len);

/* 32 bytes, L || R */
void romulus_h_finish(romulus_h *h, uint8_t *out);

#endif
