; ATmega32U4
#include <avr/io.h>
#define SY_VECTORS 43
#include "core/avr_start.S"
