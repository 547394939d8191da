/*
 * KNOT-AEAD(256, 512, 128), Table 2; b and r in bytes
 */
#define KNOT_B 64
#define RATE 16u
#define KNOT_D 7
#define KNOT_NR0 100
#define KNOT_NR 52
#define KNOT_NRF 56
