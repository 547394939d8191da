/*
 * Dumbo: Elephant on Spongent-pi[160] (section 2.3 of the specification).
 */
#define SPONGENT_BITS 160
#define BLOCKBYTES 20

/* phi_1: the new last byte (equation 3) */
#define PHI_1(x) ((x)[0] << 3 ^ (x)[0] >> 5 ^ (x)[3] << 7 ^ (x)[13] >> 7)
