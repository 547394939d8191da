#define ROUNDS 36
#define NIBBLES (2 * CRYPTO_KEYBYTES)

/* the nibbles of the key state that are a round key */
#if CRYPTO_KEYBYTES == 10
static const uint8_t round_nibble[8] = { 1, 3, 4, 6, 13, 14, 15, 16 };
#else
static const uint8_t round_nibble[8] = { 2, 3, 12, 15, 17, 18, 28, 31 };
#endif
