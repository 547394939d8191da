/*
 * Delirium: Elephant on Keccak-f[200] (section 2.5 of the specification).
 */
#define BLOCKBYTES 25

/* phi_1: the new last byte (equation 5) */
#define PHI_1(x)                                                             \
    ((x)[0] << 1 ^ (x)[0] >> 7 ^ (x)[2] << 1 ^ (x)[2] >> 7 ^ (x)[13] << 1)
