/*
 * KTANTAN has no key schedule: its counter selects bits of the key.
 */
#include "select.h"

typedef struct {
    uint8_t k[10];
} context;
CONTEXT(context);

static void set_key(context *c, const uint8_t *key)
{
    memcpy(c->k, key, 10);
}

static uint8_t key_bit_a(const context *c, uint8_t round, uint8_t t)
{
    (void)round;
    return select_a(c->k, t);
}

static uint8_t key_bit_b(const context *c, uint8_t round, uint8_t t)
{
    (void)round;
    return select_b(c->k, t);
}
