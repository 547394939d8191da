/* Romulus-N3 (v1.2, Table 2.1) */
#define SKINNY_TK 2
#define SKINNY_ROUNDS 48
#define ROMULUS_T 12
#define ROMULUS_MEMBER 0x80
