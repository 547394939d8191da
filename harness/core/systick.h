/* SysTick (DDI 0419, B3.3), which goes down from 0 through 0xFFFFFF. */
#define SY_COUNTER_BITS 24
#define SY_COUNT_START() \
    do { \
        SY_REG(0xE000E014u) = 0xFFFFFFu; \
        SY_REG(0xE000E010u) = 5u; /* the core's clock, no interrupt */ \
        SY_REG(0xE000E018u) = 0; \
    } while (0)
#define SY_COUNT() (-SY_REG(0xE000E018u) & 0xFFFFFFu)
