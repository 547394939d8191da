/*
 * KNOT-Hash(256, 384, 128, 128), Table 3; b and r in bytes
 */
#define KNOT_B 48
#define RATE 16u
#define KNOT_D 7
#define KNOT_NRH 80
#define KNOT_HASH_IV 0x80 /* 1 || 0^383, equation 17 */
