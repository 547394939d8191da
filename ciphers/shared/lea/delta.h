/* Sizes, and the constants of the key schedule. */
#define KEY_WORDS (CRYPTO_KEYBYTES / 4)
#define ROUNDS (16 + CRYPTO_KEYBYTES / 2)
#define STEPS (KEY_WORDS == 4 ? 4 : 6) /* words that a round renews */

TABLE(uint32_t) delta[8] = {
    0xc3efe9db, 0x44626b02, 0x79e27c8a, 0x78df30ec,
    0x715ea49e, 0xc785da0a, 0xe04ef22a, 0xe5c40957
};
