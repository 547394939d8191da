/* DWT_CYCCNT (DDI 0403E, C1.8). A debugger that lets go of the chip may leave DEMCR.TRCENA off. */
#ifndef SY_COUNT_UNLOCK /* a Cortex-M7 has a lock */
#define SY_COUNT_UNLOCK
#endif
#define SY_COUNTER_BITS 32
#define SY_COUNT_START() \
    do { \
        SY_REG(0xE000EDFCu) |= 1u << 24; \
        SY_COUNT_UNLOCK; \
        SY_REG(0xE0001000u) |= 1u; \
        SY_REG(0xE0001004u) = 0; \
    } while (0)
#define SY_COUNT() SY_REG(0xE0001004u)
