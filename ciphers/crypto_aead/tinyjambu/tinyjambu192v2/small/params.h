#define TINYJAMBU_KEYBYTES 24
/* Nonce and associated data steps, and the second tag word. */
#define P_NONCE_AD TINYJAMBU_P640
/* All other steps. */
#define P_KEY_TEXT TINYJAMBU_P1152
