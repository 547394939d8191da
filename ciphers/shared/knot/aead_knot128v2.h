/*
 * KNOT-AEAD(128, 384, 192), Table 2; b and r in bytes
 */
#define KNOT_B 48
#define RATE 24u
#define KNOT_D 7
#define KNOT_NR0 76
#define KNOT_NR 28
#define KNOT_NRF 32
