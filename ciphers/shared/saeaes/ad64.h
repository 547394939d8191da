/* Associated data in blocks of 64 bits. */
#define SAEAES_R1 8
