/* Nonce and associated data steps, and the second tag word. */
#define P_NONCE_AD TINYJAMBU_P640
