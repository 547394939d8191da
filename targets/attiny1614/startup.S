; ATtiny1614, which avr-libc of Debian 12 does not know. I/O addresses: data sheet DS40001995, chapter "AVR CPU".
#define _SFR_IO_ADDR(address) address
#define SPL 0x3D
#define SPH 0x3E
#define SREG 0x3F
#define RAMEND 0x3FFF
#define SY_VECTORS 31
#include "core/avr_start.S"
