/*
 * Elephant v2: as v1.1, but authentication is a protected counter sum.  The
 * first block of nonce and associated data is added as it is, and the tag is
 * a last call of P.
 */
#define ELEPHANT_VERSION 2

/* how much of P(K || 0) is kept */
#define EXPANDED_BYTES BLOCKBYTES

/* b of mask_K^{a,b} */
#define MASK_M 1
#define MASK_A 0
#define MASK_C 2
