#define TINYJAMBU_KEYBYTES 32
/* Nonce and associated data steps, and the second tag word. */
#define P_NONCE_AD TINYJAMBU_P640
/* All other steps. */
#define P_KEY_TEXT TINYJAMBU_P1280
/* Whole blocks are loaded and stored without a loop. */
#define TINYJAMBU_FAST
