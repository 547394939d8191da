/*
 * SPECK64/128 (ePrint 2013/404) for ARMv7-M, in assembly: 27 rounds of three
 * instructions, nine round keys at a time. Rotations are in the operands.
 */
    .syntax unified
    .thumb
    .text

#define ROUNDS 27
#define X r1
#define Y r3

.macro FUNCTION name
    .global \name
    .type \name, %function
    .thumb_func
\name:
.endm

/* Unaligned words; most significant bytes come first. */
.macro LOAD
    push {r4-r12, lr}
    ldr Y, [r1, #4]
    ldr X, [r1]
    rev X, X
    rev Y, Y
.endm

.macro STORE
    rev X, X
    rev Y, Y
    str X, [r0]
    str Y, [r0, #4]
    movs r0, #0
    pop {r4-r12, pc}
.endm

FUNCTION crypto_block_encrypt
    LOAD
    .rept 3
    ldmia r2!, {r4-r12}
    .irp k, r4, r5, r6, r7, r8, r9, r10, r11, r12
    add X, Y, X, ror #8
    eor X, X, \k
    eor Y, X, Y, ror #29
    .endr
    .endr
    STORE
    .size crypto_block_encrypt, . - crypto_block_encrypt

/* x is X rotated by 24 to the right and y is Y by 27, so that both rotations
 * of a round are made by those that use them. */
FUNCTION crypto_block_decrypt
    LOAD
    ror X, X, #8
    ror Y, Y, #5
    add r2, r2, #(4 * ROUNDS)
    .rept 3
    ldmdb r2!, {r4-r12}
    .irp k, r12, r11, r10, r9, r8, r7, r6, r5, r4
    eor Y, X, Y, ror #3
    eor X, \k, X, ror #24
    sub X, X, Y, ror #27
    .endr
    .endr
    ror X, X, #24
    ror Y, Y, #27
    STORE
    .size crypto_block_decrypt, . - crypto_block_decrypt

    .set i, 0
.macro KEY_ROUND l
    add \l, r3, \l, ror #8
    eor \l, \l, #i
    eor r3, \l, r3, ror #29
    str r3, [r0], #4
    .set i, i + 1
.endm

    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, %function
    .thumb_func
crypto_block_decrypt_schedule:
FUNCTION crypto_block_encrypt_schedule
    push {r4, r5}
    ldr r5, [r1]
    ldr r4, [r1, #4]
    ldr r2, [r1, #8]
    ldr r3, [r1, #12]
    rev r5, r5
    rev r4, r4
    rev r2, r2
    rev r3, r3
    str r3, [r0], #4
    .rept 8
    KEY_ROUND r2
    KEY_ROUND r4
    KEY_ROUND r5
    .endr
    KEY_ROUND r2
    KEY_ROUND r4
    pop {r4, r5}
    movs r0, #0
    bx lr
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule
