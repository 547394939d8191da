/* How an image for the oracles begins and ends. Our simulator and theirs stop at the end, where a register
 * holds a sum: r22 to r25 on AVR, r2 on Arm, a2 on RISC-V, a4 on Xtensa, r12 and r13 on MSP430. */
#ifndef STEELYARD_END_H
#define STEELYARD_END_H

#include "harness.h"

static inline void sy_begin(void)
{
    /* simavr shows an edge of an output only */
#if defined(__AVR_ATtiny85__)
    DDRB |= _BV(DDB2);
#elif defined(DDRB)
    DDRB |= _BV(DDB5);
#endif
}

__attribute__((noinline, noreturn, unused)) static void sy_end(uint32_t sum)
{
#if defined(__AVR__)
    /* simavr shows edges only: a pulse for each bit, the lowest first, longer for a one */
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        SY_TRIGGER_HIGH();
        if (sum & bit)
            __asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
        SY_TRIGGER_LOW();
    }
    register uint32_t s __asm__("r22") = sum;
    __asm__ volatile("cli\n\tsleep" : : "r"(s));
#elif defined(__arm__)
    /* semihosting SYS_EXIT, ADP_Stopped_ApplicationExit */
    register uint32_t s __asm__("r2") = sum;
    __asm__ volatile("mov r0, #0x18\n\tldr r1, =0x20026\n\tbkpt 0xab" : : "r"(s) : "r0", "r1");
#elif defined(__riscv)
    /* the same; the block's second word is the exit code where a register has 64 bits */
    static const uintptr_t block[2] = {0x20026, 0};
    register uintptr_t a0 __asm__("a0") = 0x18;
#if __riscv_xlen == 64
    register uintptr_t a1 __asm__("a1") = (uintptr_t)block;
#else
    register uintptr_t a1 __asm__("a1") = block[0];
#endif
    register uint32_t s __asm__("a2") = sum;
    __asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\tslli x0, x0, 0x1f\n\tebreak\n\t"
                     "srai x0, x0, 7\n\t.option pop" : : "r"(a0), "r"(a1), "r"(s));
#elif defined(__XTENSA__)
    /* SYS_exit of the instruction set simulator */
    register uint32_t call __asm__("a2") = 1, code __asm__("a3") = 0, s __asm__("a4") = sum;
    __asm__ volatile("simcall" : : "r"(call), "r"(code), "r"(s));
#elif defined(__MSP430__)
    register uint32_t s __asm__("r12") = sum;
    __asm__ volatile(".word 0" : : "r"(s)); /* no instruction */
#endif
    for (;;)
        ;
}

#endif
