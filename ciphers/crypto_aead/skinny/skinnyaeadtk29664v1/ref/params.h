/* SKINNY-AEAD-M6 (Table 1 of the specification) */
#define SKINNY_TK 2
#define SKINNY_ROUNDS 48
