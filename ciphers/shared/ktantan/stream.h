/*
 * KTANTAN's key bits in the order of the rounds.
 */
#include "select.h"

typedef struct {
    const uint8_t *key;
    uint8_t t;
} stream;

static void start(stream *s, const uint8_t *key)
{
    s->key = key;
    s->t = 0xFF;
}

static uint8_t next_two(stream *s)
{
    uint8_t t = s->t;

    t = (uint8_t)((uint8_t)(t << 1) |
                  ((t >> 7 ^ t >> 6 ^ t >> 4 ^ t >> 2) & 1));
    s->t = t;
    return (uint8_t)(select_a(s->key, t) | select_b(s->key, t) << 1);
}
