; Vectors and C run-time start of an AVR, for its startup.S, which says how many vectors there are (SY_VECTORS) and what
; <avr/io.h> does not. No interrupt is used: every vector but reset stops the program where a debugger or the simulator
; sees it.
    .section .vectors, "ax", @progbits
    .global sy_vectors
sy_vectors:
    jmp sy_reset
    .rept SY_VECTORS - 1
    jmp sy_stop
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
#ifdef __AVR_HAVE_ELPM__
    ldi r17, hh8(sy_data_load)
    out _SFR_IO_ADDR(RAMPZ), r17
#endif
    ldi r17, hi8(sy_data_end)
    rjmp 2f
#ifdef __AVR_HAVE_ELPM__
1:  elpm r0, Z+
#else
1:  lpm r0, Z+
#endif
    st X+, r0
2:  cpi r26, lo8(sy_data_end)
    cpc r27, r17
    brne 1b
#ifdef __AVR_HAVE_ELPM__
    out _SFR_IO_ADDR(RAMPZ), r1
#endif

    ldi r17, hi8(sy_free_start)
    rjmp 4f
3:  st X+, r1
4:  cpi r26, lo8(sy_free_start)
    cpc r27, r17
    brne 3b

    call main
sy_stop:
    cli
    rjmp sy_stop

    ; The compiler asks for libgcc's copy loops by these names; the ones above do their work.
    .global __do_copy_data
    .global __do_clear_bss
    .set __do_copy_data, 0
    .set __do_clear_bss, 0
