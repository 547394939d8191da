/* Ascon-CXOF128: SP 800-232, section 5.3. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define ASCON_BIG_ENDIAN 0                      /* bit 0 of a word comes first */
#define ASCON_IV UINT64_C(0x0000080000cc0004)
#define ASCON_INTERLEAVE 1                      /* state_fast.h: pays */

#endif
