; Vectors and C run-time start of the ATmega4809: no interrupt is used, so every vector but reset
; stops the program where a debugger or the simulator sees it. I/O addresses: data sheet DS40002173,
; chapter "AVR CPU".
    .equ SPL, 0x3D
    .equ SPH, 0x3E
    .equ SREG, 0x3F
    .equ RAMEND, 0x3FFF

    .section .vectors, "ax", @progbits
    .global sy_vectors
sy_vectors:
    jmp sy_reset
    .rept 39
    jmp sy_stop
    .endr

    .section .text.startup, "ax", @progbits
    .global sy_reset
sy_reset:
    clr r1
    out SREG, r1
    ldi r28, lo8(RAMEND)
    ldi r29, hi8(RAMEND)
    out SPH, r29
    out SPL, r28

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

    call main
sy_stop:
    cli
    rjmp sy_stop

    ; The compiler asks for libgcc's copy loops by these names; the ones above do their work.
    .global __do_copy_data
    .global __do_clear_bss
    .set __do_copy_data, 0
    .set __do_clear_bss, 0
