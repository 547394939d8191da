/*
 * Elephant v1.1: Algorithms 1 and 2 of its specification, with two deviations
 * that all known answers of the submission show:
 *
 * - The masks begin with the first 16 bytes of P(K || 0), padded with zeros,
 *   where the specification has all of it (equation 2).
 * - An empty ciphertext is not authenticated, where line 7 has a block of it,
 *   which is the padding.
 */
#define ELEPHANT_VERSION 1

/* how much of P(K || 0) is kept */
#define EXPANDED_BYTES CRYPTO_KEYBYTES

/* b of mask_K^{a,b} */
#define MASK_M 0
#define MASK_A 2
#define MASK_C 1
