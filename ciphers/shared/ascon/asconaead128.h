/* Ascon-AEAD128: SP 800-232, section 4. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 0                      /* bit 0 of a word comes first */
#define ASCON_RATE 16                           /* r, in bytes */
#define ASCON_A 12                              /* Ascon-p[12] */
#define ASCON_B 8                               /* Ascon-p[8] */
#define ASCON_IV UINT64_C(0x00001000808c0001)
#define ASCON_SEPARATION (UINT64_C(1) << 63)    /* 0* || 1: last bit of the state */
#define ASCON_INTERLEAVE 0                      /* state_fast.h: does not pay */

#endif
