/* Romulus-N1 (v1.2, Table 2.1) */
#define SKINNY_TK 3
#define SKINNY_ROUNDS 56
#define ROMULUS_T 16
#define ROMULUS_MEMBER 0x00
