/* Ascon-80pq: Ascon v1.2, recommended parameter sets. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 1                      /* bit 63 of a word comes first */
#define ASCON_RATE 8                            /* r, in bytes */
#define ASCON_A 12                              /* rounds of p^a */
#define ASCON_B 6                               /* rounds of p^b */
#define ASCON_IV UINT64_C(0xa0400c0600000000)   /* k || r || a || b; K follows */
#define ASCON_SEPARATION UINT64_C(1)            /* 0* || 1: last bit of the state */
#define ASCON_INTERLEAVE 0                      /* state_fast.h: does not pay */

#endif
