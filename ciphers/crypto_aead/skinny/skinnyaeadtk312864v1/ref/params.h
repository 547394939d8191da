/* SKINNY-AEAD-M3 (Table 1 of the specification) */
#define SKINNY_TK 3
#define SKINNY_ROUNDS 56
