/*
 * KNOT-Hash(384, 384, 48, 192), Table 3; b and r in bytes
 */
#define KNOT_B 48
#define RATE 6u
#define KNOT_D 7
#define KNOT_NRH 104
#define KNOT_HASH_IV 0
