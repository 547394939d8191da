/* Nonce and associated data steps, and the second tag word. */
#define P_NONCE_AD TINYJAMBU_P384
/* Whole blocks are loaded and stored without a loop. */
#define TINYJAMBU_FAST
