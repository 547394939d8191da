/*
 * KNOT-AEAD(128, 256, 64), Table 2; b and r in bytes
 */
#define KNOT_B 32
#define RATE 8u
#define KNOT_D 6
#define KNOT_NR0 52
#define KNOT_NR 28
#define KNOT_NRF 32
