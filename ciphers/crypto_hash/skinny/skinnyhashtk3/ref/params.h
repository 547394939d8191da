/* SKINNY-tk3-Hash (section 2.5 of the specification) */
#define SKINNY_TK 3
#define SKINNY_ROUNDS 56
