/*
 * KNOT-Hash(512, 512, 64, 256), Table 3; b and r in bytes
 */
#define KNOT_B 64
#define RATE 8u
#define KNOT_D 8
#define KNOT_NRH 140
#define KNOT_HASH_IV 0
