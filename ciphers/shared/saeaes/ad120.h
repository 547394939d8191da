/* Associated data in blocks of 120 bits. */
#define SAEAES_R1 15
