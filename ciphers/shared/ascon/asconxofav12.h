/* Ascon-Xofa: Ascon v1.2, "Hashing", as of the final round. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 1                      /* bit 63 of a word comes first */
#define ASCON_B 8                               /* rounds between blocks */
#define ASCON_IV UINT64_C(0x00400c0400000000)   /* 0 || r || a || a - b || h */
#define ASCON_INTERLEAVE 1                      /* state_fast.h: pays */

#endif
