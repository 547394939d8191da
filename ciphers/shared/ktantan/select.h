/*
 * KTANTAN: bits of the key that the counter t selects. Word i of the key has
 * 16 bits; a(i) is the bit of it whose number is in the upper half of t.
 */
static uint8_t a(const uint8_t *key, uint8_t i, uint8_t t)
{
    return key[9 - 2 * i - (t >> 7)] >> (t >> 4 & 7) & 1;
}

/* a(0) where T3 and T2 are 0, else one of a(1) to a(4) */
static uint8_t select_a(const uint8_t *key, uint8_t t)
{
    return a(key, (t & 12) == 0 ? 0 : (uint8_t)(1 + (t & 3)), t);
}

/* a(4) where of T3 and T2 only T2 is 1, else one of a(0) to a(3) */
static uint8_t select_b(const uint8_t *key, uint8_t t)
{
    return a(key, (t & 12) == 4 ? 4 : (uint8_t)(3 - (t & 3)), t);
}
