/* Trigger and stack pointer where ports are registers in memory. A target.h defines SY_TRIGGER_SET and
 * SY_TRIGGER_CLEAR, one store each. */
#define SY_REG(address) (*(volatile uint32_t *)(address))
#define SY_TRIGGER_HIGH() \
    do { \
        SY_TRIGGER_SET; \
        __asm__ volatile("" : : : "memory"); \
    } while (0)
#define SY_TRIGGER_LOW() \
    do { \
        __asm__ volatile("" : : : "memory"); \
        SY_TRIGGER_CLEAR; \
    } while (0)
#ifdef __riscv
#define SY_MOVE "mv"
#else
#define SY_MOVE "mov"
#endif
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile(SY_MOVE " %0, sp" : "=r"(sp_)); \
        sp_; \
    })
