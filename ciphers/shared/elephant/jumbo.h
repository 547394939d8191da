/*
 * Jumbo: Elephant on Spongent-pi[176] (section 2.4 of the specification).
 */
#define SPONGENT_BITS 176
#define BLOCKBYTES 22

/* phi_1: the new last byte (equation 4) */
#define PHI_1(x) ((x)[0] << 1 ^ (x)[0] >> 7 ^ (x)[3] << 7 ^ (x)[19] >> 7)
