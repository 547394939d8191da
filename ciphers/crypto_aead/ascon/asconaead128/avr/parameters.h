#define ASCON_PERMUTE_ELSEWHERE     /* permutation_avr.S */
#define ASCON_ROWS_ELSEWHERE        /* rows_avr.S */

#include "asconaead128.h"
