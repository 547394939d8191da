/* nRF52840 on its development kit: the trigger is P0.03. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 64000000UL
#define SY_STACK_RESERVE 256 /* the harness's own frames while it receives a request */
#define SY_PAINT_GAP 64      /* saved registers of the fill itself */
#define SY_P0_OUTSET SY_REG(0x50000508u)
#define SY_P0_OUTCLR SY_REG(0x5000050Cu)
#define SY_TRIGGER_SET SY_P0_OUTSET = 1u << 3
#define SY_TRIGGER_CLEAR SY_P0_OUTCLR = 1u << 3
#define SY_TRIGGER_READ() (SY_REG(0x50000504u) & 1u << 3)
void sy_settle(void);
#define SY_SETTLE() sy_settle()
#include "core/port.h"
#include "core/dwt.h"

#endif
