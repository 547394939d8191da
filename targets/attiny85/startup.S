; Vectors and C run-time start of the ATtiny85, which has no JMP and CALL; otherwise as harness/core/avr_start.S. No interrupt
; is used: every vector but reset stops the program where a debugger or the simulator sees it.
#include <avr/io.h>

    .section .vectors, "ax", @progbits
    .global sy_vectors
sy_vectors:
    rjmp sy_reset
    .rept 14
    rjmp sy_stop
    .endr

    .section .text.startup, "ax", @progbits
    .global sy_reset
sy_reset:
    clr r1
    out _SFR_IO_ADDR(SREG), r1
    ldi r28, lo8(RAMEND)
    ldi r29, hi8(RAMEND)
    out _SFR_IO_ADDR(SPH), r29
    out _SFR_IO_ADDR(SPL), r28

    ldi r26, lo8(sy_data_start)
    ldi r27, hi8(sy_data_start)
    ldi r30, lo8(sy_data_load)
    ldi r31, hi8(sy_data_load)
    ldi r17, hi8(sy_data_end)
    rjmp 2f
1:  lpm r0, Z+
    st X+, r0
2:  cpi r26, lo8(sy_data_end)
    cpc r27, r17
    brne 1b

    ldi r17, hi8(sy_free_start)
    rjmp 4f
3:  st X+, r1
4:  cpi r26, lo8(sy_free_start)
    cpc r27, r17
    brne 3b

    rcall main
sy_stop:
    cli
    rjmp sy_stop

    ; The compiler asks for libgcc's copy loops by these names; the ones above do their work.
    .global __do_copy_data
    .global __do_clear_bss
    .set __do_copy_data, 0
    .set __do_clear_bss, 0
