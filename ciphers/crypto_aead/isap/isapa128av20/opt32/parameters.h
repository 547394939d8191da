/* Ascon-p for ISAP-A: how words are kept (ascon.h, state_fast.h). */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 1          /* bit 63 of a word comes first */

/* A word enters every 12 rounds, and Thumb-2 has rotations for nothing. */
#if defined(__thumb2__)
#define ASCON_INTERLEAVE 1
#else
#define ASCON_INTERLEAVE 0
#endif

#endif
