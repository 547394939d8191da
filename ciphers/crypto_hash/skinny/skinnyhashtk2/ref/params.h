/* SKINNY-tk2-Hash (section 2.5 of the specification) */
#define SKINNY_TK 2
#define SKINNY_ROUNDS 48
