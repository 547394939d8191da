/* Start and exception vectors of the ESP32. The boot ROM jumps to the first byte of instruction RAM.
 *
 * The handlers of window overflow and underflow are those that the register save areas dictate (Xtensa
 * ISA manual 4.7.1.5): a frame's first four registers are below its callee's stack pointer, the others
 * below its caller's frame. No interrupt is used, so every other vector stops the program where a
 * debugger or the simulator sees it. */
    .section .start, "ax", @progbits
    .global sy_reset
sy_reset:
    j start

    .section .vectors, "ax", @progbits
    .global sy_vectors
sy_vectors: /* a multiple of 0x400 */
    .org 0x00
overflow4:
    s32e a0, a5, -16
    s32e a1, a5, -12
    s32e a2, a5, -8
    s32e a3, a5, -4
    rfwo
    .org 0x40
underflow4:
    l32e a0, a5, -16
    l32e a1, a5, -12
    l32e a2, a5, -8
    l32e a3, a5, -4
    rfwu
    .org 0x80
overflow8:
    s32e a0, a9, -16
    l32e a0, a1, -12
    s32e a1, a9, -12
    s32e a2, a9, -8
    s32e a3, a9, -4
    s32e a4, a0, -32
    s32e a5, a0, -28
    s32e a6, a0, -24
    s32e a7, a0, -20
    rfwo
    .org 0xC0
underflow8:
    l32e a0, a9, -16
    l32e a1, a9, -12
    l32e a2, a9, -8
    l32e a7, a1, -12
    l32e a3, a9, -4
    l32e a4, a7, -32
    l32e a5, a7, -28
    l32e a6, a7, -24
    l32e a7, a7, -20
    rfwu
    .org 0x100
overflow12:
    s32e a0, a13, -16
    l32e a0, a1, -12
    s32e a1, a13, -12
    s32e a2, a13, -8
    s32e a3, a13, -4
    s32e a4, a0, -48
    s32e a5, a0, -44
    s32e a6, a0, -40
    s32e a7, a0, -36
    s32e a8, a0, -32
    s32e a9, a0, -28
    s32e a10, a0, -24
    s32e a11, a0, -20
    rfwo
    .org 0x140
underflow12:
    l32e a0, a13, -16
    l32e a1, a13, -12
    l32e a2, a13, -8
    l32e a11, a1, -12
    l32e a3, a13, -4
    l32e a4, a11, -48
    l32e a5, a11, -44
    l32e a6, a11, -40
    l32e a7, a11, -36
    l32e a8, a11, -32
    l32e a9, a11, -28
    l32e a10, a11, -24
    l32e a11, a11, -20
    rfwu
    .rept 6
    .align 64
    break 1, 15
    .endr
    .org 0x300
    break 1, 15
    /* User exception. MOVSP asks for the caller's frame when that is not in the registers: the window
     * goes back as a return would move it, the handler of that underflow loads the frame and returns to
     * MOVSP. All registers that are used before that are the caller's, which are about to be loaded. */
    .org 0x340
    wsr.excsave1 a0
    rsr.exccause a0
    beqi a0, 5, alloca
    break 1, 15
    .org 0x3C0
    break 1, 15
alloca:
    rsr.excsave1 a0
    rotw -1
    rsr.ps a2
    rsr.windowbase a0
    addi a0, a0, 1
    extui a0, a0, 0, 4
    extui a3, a2, 8, 4 /* PS.OWB: where the window is to come back */
    xor a3, a3, a0
    slli a3, a3, 8
    xor a2, a2, a3
    wsr.ps a2
    rsync
    bbsi a4, 31, 1f /* bits 31 and 30 of the return address: 1, 2, 3 for CALL4, CALL8, CALL12 */
    j underflow4
1:  rotw -1
    bbsi a8, 30, 2f
    j underflow8
2:  rotw -1
    j underflow12
    .size sy_vectors, . - sy_vectors

    .section .text.start, "ax", @progbits
    .align 4
start:
    movi a0, 0x20 /* user mode, no exception, windows off until they are set */
    wsr.ps a0
    rsync
    movi a0, 0
    wsr.windowbase a0
    rsync
    movi a0, 1
    wsr.windowstart a0
    rsync
    movi a0, sy_vectors
    wsr.vecbase a0
    movi a0, 0
    wsr.intenable a0
    movi a1, sy_stack_top
    movi a2, 0x40020 /* as above, with windows */
    wsr.ps a2
    rsync

    /* instruction RAM gives words only; all three addresses are multiples of four */
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

    movi a4, main
    callx4 a4 /* the outermost frame has no caller's frame to keep more than four registers in */
6:  break 1, 15
    j 6b
