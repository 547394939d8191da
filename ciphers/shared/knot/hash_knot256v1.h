/*
 * KNOT-Hash(256, 256, 32, 128), Table 3; b and r in bytes
 */
#define KNOT_B 32
#define RATE 4u
#define KNOT_D 7
#define KNOT_NRH 68
#define KNOT_HASH_IV 0
