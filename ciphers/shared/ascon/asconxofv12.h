/* Ascon-Xof: Ascon v1.2, "Hashing". */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 1                      /* bit 63 of a word comes first */
#define ASCON_IV UINT64_C(0x00400c0000000000)   /* 0 || r || a || 0 || h */
#define ASCON_INTERLEAVE 1                      /* state_fast.h: pays */

#endif
