/* Romulus-N (v1.3, section 2.2) */
#define SKINNY_TK 3
#define SKINNY_ROUNDS 40
#define ROMULUS_T 16
#define ROMULUS_MEMBER 0x00
#define ROMULUS_OPT32
