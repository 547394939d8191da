/*
 * LEA-128 (WISA 2013) for ARMv7-M, in assembly. Rotations are in the operands
 * of the next exclusive-or with a round key: nine instructions a round, of
 * which the context holds T0 to T3.
 */
    .syntax unified
    .thumb
    .text

#define ROUNDS 24
#define A r3
#define B r4
#define C r5
#define D r6
#define T r7
/* round keys */
#define T0 r8
#define T1 r9
#define T2 r10
#define T3 r11
#define COUNT r12

.macro FUNCTION name
    .global \name
    .type \name, %function
    .thumb_func
\name:
.endm

/* unaligned words */
.macro LOAD
    push {r4-r11}
    ldr A, [r1]
    ldr B, [r1, #4]
    ldr C, [r1, #8]
    ldr D, [r1, #12]
    mov COUNT, #(ROUNDS / 4)
.endm

.macro STORE
    str A, [r0]
    str B, [r0, #4]
    str C, [r0, #8]
    str D, [r0, #12]
    movs r0, #0
    pop {r4-r11}
    bx lr
.endm

/* The values are a and d rotated by 23 to the right, b by 5, c by 3; behind
 * it they are so for b, c, d, a. */
.macro ROUND a, b, c, d
    ldmia r2!, {T0-T3}
    eor T, T3, \c, ror #3
    eor \d, T1, \d, ror #23
    add \d, \d, T
    eor T, T2, \b, ror #5
    eor \c, T1, \c, ror #3
    add \c, \c, T
    eor T, T0, \a, ror #23
    eor \b, T1, \b, ror #5
    add \b, \b, T
.endm

FUNCTION crypto_block_encrypt
    LOAD
    ror A, A, #9
    ror B, B, #27
    ror C, C, #29
    ror D, D, #9
1:  ROUND A, B, C, D
    ROUND B, C, D, A
    ROUND C, D, A, B
    ROUND D, A, B, C
    subs COUNT, COUNT, #1
    bne 1b
    ror A, A, #23
    ror B, B, #5
    ror C, C, #3
    ror D, D, #23
    STORE
    .size crypto_block_encrypt, . - crypto_block_encrypt

.macro INVERSE_ROUND a, b, c, d
    ldmdb r2!, {T0-T3}
    eor T, \a, T0
    rsb \b, T, \b, ror #9
    eor \b, \b, T1
    eor T, \b, T2
    rsb \c, T, \c, ror #27
    eor \c, \c, T1
    eor T, \c, T3
    rsb \d, T, \d, ror #29
    eor \d, \d, T1
.endm

FUNCTION crypto_block_decrypt
    LOAD
    add r2, r2, #(16 * ROUNDS)
1:  INVERSE_ROUND D, A, B, C
    INVERSE_ROUND C, D, A, B
    INVERSE_ROUND B, C, D, A
    INVERSE_ROUND A, B, C, D
    subs COUNT, COUNT, #1
    bne 1b
    STORE
    .size crypto_block_decrypt, . - crypto_block_decrypt

/* Step j of round i adds delta(i mod 4), rotated by i + j to the left; delta
 * is kept rotated by what i has above its lowest two bits. */
.macro KEY_ROUND delta, i
    add A, A, \delta, ror #((32 - \i) & 31)
    ror A, A, #31
    add B, B, \delta, ror #(31 - \i)
    ror B, B, #29
    add C, C, \delta, ror #(30 - \i)
    ror C, C, #26
    add D, D, \delta, ror #(29 - \i)
    ror D, D, #21
    stmia r0!, {A-D}
.endm

    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, %function
    .thumb_func
crypto_block_decrypt_schedule:
FUNCTION crypto_block_encrypt_schedule
    LOAD
    ldr r8, =0xc3efe9db
    ldr r9, =0x44626b02
    ldr r10, =0x79e27c8a
    ldr r11, =0x78df30ec
1:  KEY_ROUND r8, 0
    KEY_ROUND r9, 1
    KEY_ROUND r10, 2
    KEY_ROUND r11, 3
    .irp delta, r8, r9, r10, r11
    ror \delta, \delta, #28
    .endr
    subs COUNT, COUNT, #1
    bne 1b
    movs r0, #0
    pop {r4-r11}
    bx lr
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule
