; ATmega328P
#include <avr/io.h>
#define SY_VECTORS 26
#include "core/avr_start.S"
