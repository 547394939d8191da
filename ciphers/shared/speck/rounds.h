/* Rounds of each size (table 4.1 of the paper). */
#if CRYPTO_BLOCKBYTES == 4
#define ROUNDS 22
#elif CRYPTO_BLOCKBYTES == 6
#define ROUNDS (19 + KEY_WORDS)
#elif CRYPTO_BLOCKBYTES == 8
#define ROUNDS (23 + KEY_WORDS)
#elif CRYPTO_BLOCKBYTES == 12
#define ROUNDS (26 + KEY_WORDS)
#else
#define ROUNDS (30 + KEY_WORDS)
#endif
