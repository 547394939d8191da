/*
 * KATAN: the key and what its shift register appends; k0 is the lowest bit of
 * the last byte of the key. Round i takes bits 2 i and 2 i + 1.
 */
typedef struct {
    uint8_t k[2 * 256 / 8]; /* bit n in bit n % 8 of byte n / 8 */
} context;
CONTEXT(context);

static uint8_t key_bit(const context *c, uint16_t n)
{
    return c->k[n / 8] >> (n % 8) & 1;
}

static void set_key(context *c, const uint8_t *key)
{
    uint16_t n;

    memset(c, 0, sizeof(*c));
    for (n = 0; n < 10; n++)
        c->k[n] = key[9 - n];
    for (n = 80; n < 2 * ROUNDS; n++)
        c->k[n / 8] |= (uint8_t)((key_bit(c, n - 80) ^ key_bit(c, n - 61) ^
                                  key_bit(c, n - 50) ^ key_bit(c, n - 13))
                                 << (n % 8));
}

static uint8_t key_bit_a(const context *c, uint8_t round, uint8_t t)
{
    (void)t;
    return key_bit(c, (uint16_t)(2 * round));
}

static uint8_t key_bit_b(const context *c, uint8_t round, uint8_t t)
{
    (void)t;
    return key_bit(c, (uint16_t)(2 * round + 1));
}
