/*
 * Rounds, and the constant sequence of each size (tables 3.1 and 3.2 of the
 * paper), the first bit of a sequence in bit 0.
 */
#define Z0 0x19c3522fb386a45fu
#define Z1 0x16864fb8ad0c9f71u
#define Z2 0x3369f885192c0ef5u
#define Z3 0x3c2ce51207a635dbu
#define Z4 0x3dc94c3a046d678bu

#if CRYPTO_BLOCKBYTES == 4
#define ROUNDS 32
#define Z Z0
#elif CRYPTO_BLOCKBYTES == 6
#define ROUNDS 36
#define Z (KEY_WORDS == 3 ? Z0 : Z1)
#elif CRYPTO_BLOCKBYTES == 8
#define ROUNDS (KEY_WORDS == 3 ? 42 : 44)
#define Z (KEY_WORDS == 3 ? Z2 : Z3)
#elif CRYPTO_BLOCKBYTES == 12
#define ROUNDS (KEY_WORDS == 2 ? 52 : 54)
#define Z (KEY_WORDS == 2 ? Z2 : Z3)
#else
#define ROUNDS (KEY_WORDS == 2 ? 68 : KEY_WORDS == 3 ? 69 : 72)
#define Z (KEY_WORDS == 2 ? Z2 : KEY_WORDS == 3 ? Z3 : Z4)
#endif
