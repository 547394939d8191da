/* Start and exception vectors of the ESP8266: the boot ROM, or a boot loader, jumps to the first byte of code.
 * No interrupt is used, so every vector stops the program where a debugger or the simulator sees it. */
    .section .start, "ax", @progbits
    .global sy_reset
sy_reset:
    j start

    .section .text.start, "ax", @progbits
    .align 4
start:
    movi a0, sy_vectors
    wsr.vecbase a0
    movi a0, 0x20 /* user mode, no exception, all interrupts allowed by level */
    wsr.ps a0
    rsync
    movi a0, 0
    wsr.intenable a0
    movi a1, sy_stack_top

    /* memory for code gives words only; all three addresses are multiples of four */
    movi a2, sy_data_start
    movi a3, sy_data_end
    movi a4, sy_data_load
    j 3f
2:  l32i a5, a4, 0
    s32i a5, a2, 0
    addi a4, a4, 4
    addi a2, a2, 4
3:  bltu a2, a3, 2b

    movi a3, sy_bss_end
    movi a5, 0
    j 5f
4:  s32i a5, a2, 0
    addi a2, a2, 4
5:  bltu a2, a3, 4b

    movi a0, main
    callx0 a0
6:  break 1, 15
    j 6b

    /* exception vectors, 16 bytes each (core-isa.h, XCHAL_*_VECOFS) */
    .section .vectors, "ax", @progbits
sy_vectors:
    .rept 8
    break 1, 15
    j .
    .align 16
    .endr
