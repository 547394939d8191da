/*
 * KNOT-AEAD(192, 384, 96), Table 2; b and r in bytes
 */
#define KNOT_B 48
#define RATE 12u
#define KNOT_D 7
#define KNOT_NR0 76
#define KNOT_NR 40
#define KNOT_NRF 44
