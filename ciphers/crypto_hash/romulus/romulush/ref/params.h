/* Romulus-H (v1.3, section 2.2) */
#define SKINNY_TK 3
#define SKINNY_ROUNDS 40
