/* Ascon-p for ISAP-A: how words are kept (ascon.h, state_fast.h). */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 1          /* bit 63 of a word comes first */
#define ASCON_INTERLEAVE 0          /* state_fast.h */

/* An MSP430 shifts by one bit at a time, as an AVR does. */
#if defined(__MSP430__)
#define ASCON_COLUMNS 1
#endif

#endif
