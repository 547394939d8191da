; ATmega128
#include <avr/io.h>
#define SY_VECTORS 35
#include "core/avr_start.S"
