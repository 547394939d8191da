/*
 * AES-128 (FIPS 197) for ARMv7-M, bitsliced, in constant time: fixsliced (A.
 * Adomnicai, T. Peyrin: Fixslicing AES-like Ciphers, TCHES 2021), for one
 * block. scripts/fixslice.py wrote it, and has its formulas.
 *
 * Word k, of four, has bit k of byte (row r, column c) in its bit 4 r + c,
 * and bit k + 4 in its bit 16 + 4 r + c: one block fills its registers, where
 * eight slices would leave every other bit to a second block. SubBytes is an
 * inversion in GF((2^4)^2), whose halves are those of the words.
 * Nothing moves rows: behind round i row r is i r columns off its place, so
 * MixColumns has four forms, and round keys are held likewise. They also have
 * the 0x63 of SubBytes. Both directions have the same ones.
 */
    .syntax unified
    .thumb

.macro FUNCTION name
    .section .text.\name, "ax", %progbits
    .global \name
    .type \name, %function
    .thumb_func
\name:
.endm

.macro LOCAL name
    .section .text.\name, "ax", %progbits
    .type \name, %function
    .thumb_func
\name:
.endm

/* the words of a block, at any address */
.macro LOAD from
    ldr r4, [\from]
    ldr r5, [\from, #4]
    ldr r6, [\from, #8]
    ldr r7, [\from, #12]
.endm

.macro STORE to
    str r4, [\to]
    str r5, [\to, #4]
    str r6, [\to, #8]
    str r7, [\to, #12]
.endm

.macro ADD_KEY
    ldmia r2!, {r8-r11}
    eor r4, r4, r8
    eor r5, r5, r9
    eor r6, r6, r10
    eor r7, r7, r11
.endm

.macro ADD_KEY_BEFORE
    ldmdb r2!, {r8-r11}
    eor r4, r4, r8
    eor r5, r5, r9
    eor r6, r6, r10
    eor r7, r7, r11
.endm

.macro MIX0
    eor r0, r7, r7, ror #16
    and r0, r0, #0x000f000f
    eor r3, r6, r6, ror #16
    and r3, r3, #0x000f000f
    eors r1, r7, r0
    eor r0, r7, r1, ror #4
    eors r10, r6, r3
    eor r8, r6, r10, ror #4
    lsr r9, r0, #16
    eors r7, r8, r9
    eor r7, r7, r1, ror #4
    eor r1, r5, r5, ror #16
    and r1, r1, #0x000f000f
    eors r3, r5, r1
    eor r1, r5, r3, ror #4
    eor r6, r1, r10, ror #4
    rev16 r8, r8
    eors r6, r6, r8
    eor r8, r4, r4, ror #16
    and r8, r8, #0x000f000f
    eors r8, r8, r4
    eor r4, r4, r8, ror #4
    eors r5, r4, r9
    rev16 r4, r4
    eor r9, r0, r0, lsr #16
    eor r4, r4, r9, ror #16
    eor r4, r4, r8, ror #4
    eor r5, r5, r3, ror #4
    rev16 r1, r1
    eors r5, r5, r1
    rev16 r0, r0
    eors r7, r7, r0
.endm

.macro INVERSE_MIX0
    rev16 r0, r5
    eors r0, r0, r5
    rev16 r1, r7
    eors r1, r1, r7
    eors r3, r7, r0
    rev16 r0, r6
    eors r9, r6, r0
    eor r0, r5, r9, lsr #16
    eor r3, r3, r9, lsr #16
    eor r9, r9, r9, lsr #16
    rev16 r8, r4
    eors r8, r8, r4
    eor r9, r9, r1, lsr #16
    eor r5, r4, r9, ror #16
    eors r9, r6, r8
    eor r8, r1, r1, lsr #16
    eor r0, r0, r8, ror #16
    eor r8, r3, r3, ror #16
    and r8, r8, #0x000f000f
    eor r10, r5, r5, ror #16
    and r10, r10, #0x000f000f
    eors r10, r10, r5
    eor r5, r5, r10, ror #4
    eors r8, r8, r3
    eor r3, r3, r8, ror #4
    rev16 r4, r5
    eor r11, r3, r3, lsr #16
    eor r4, r4, r11, ror #16
    eor r4, r4, r10, ror #4
    eor r9, r9, r1, lsr #16
    eor r10, r9, r9, ror #16
    and r10, r10, #0x000f000f
    lsr r1, r3, #16
    eors r5, r5, r1
    eors r10, r10, r9
    eor r9, r9, r10, ror #4
    eors r7, r9, r1
    eor r1, r0, r0, ror #16
    and r1, r1, #0x000f000f
    eors r1, r1, r0
    rev16 r9, r9
    eor r0, r0, r1, ror #4
    eor r6, r0, r10, ror #4
    eors r6, r6, r9
    eor r7, r7, r8, ror #4
    rev16 r3, r3
    eors r7, r7, r3
    eor r5, r5, r1, ror #4
    rev16 r0, r0
    eors r5, r5, r0
.endm

.macro MIX1
    eor r0, r6, r6, ror #16
    and r0, r0, #0x000f000f
    eors r1, r6, r0
    eor r0, r1, r1, ror #4
    and r0, r0, #0xeeeeeeee
    eors r1, r1, r0
    eor r0, r7, r7, ror #16
    and r0, r0, #0x000f000f
    eors r0, r0, r7
    eor r3, r0, r0, ror #4
    and r3, r3, #0xeeeeeeee
    eors r0, r0, r3
    eor r9, r6, r1, ror #1
    eor r8, r7, r0, ror #1
    lsr r11, r8, #16
    eors r7, r9, r11
    eor r7, r7, r0, ror #1
    eor r0, r5, r5, ror #16
    and r0, r0, #0x000f000f
    eors r10, r5, r0
    eor r0, r10, r10, ror #4
    and r0, r0, #0xeeeeeeee
    eors r10, r10, r0
    eor r0, r4, r4, ror #16
    and r0, r0, #0x000f000f
    eors r0, r0, r4
    eor r3, r0, r0, ror #4
    and r3, r3, #0xeeeeeeee
    eors r0, r0, r3
    rev16 r9, r9
    eor r3, r9, r9, ror #28
    and r3, r3, #0x33333333
    eors r9, r9, r3
    eor r3, r5, r10, ror #1
    eor r4, r4, r0, ror #1
    eors r5, r4, r11
    eor r5, r5, r10, ror #1
    eor r6, r3, r1, ror #1
    rev16 r3, r3
    eor r1, r3, r3, ror #28
    and r1, r1, #0x33333333
    eors r3, r3, r1
    rev16 r1, r8
    eor r10, r1, r1, ror #28
    and r10, r10, #0x33333333
    eors r1, r1, r10
    eor r6, r6, r9, ror #2
    rev16 r4, r4
    eor r9, r4, r4, ror #28
    and r9, r9, #0x33333333
    eors r4, r4, r9
    eor r8, r8, r8, lsr #16
    eor r4, r4, r8, ror #14
    eor r5, r5, r3, ror #2
    eor r7, r7, r1, ror #2
    eor r4, r4, r0, ror #31
    ror r4, r4, #2
.endm

.macro INVERSE_MIX1
    rev16 r3, r5
    eor r0, r3, r3, ror #28
    and r0, r0, #0x33333333
    eors r3, r3, r0
    rev16 r0, r4
    eor r1, r0, r0, ror #28
    and r1, r1, #0x33333333
    eors r0, r0, r1
    rev16 r1, r6
    eor r8, r1, r1, ror #28
    and r8, r8, #0x33333333
    eors r1, r1, r8
    rev16 r8, r7
    eor r9, r8, r8, ror #28
    and r9, r9, #0x33333333
    eors r8, r8, r9
    eor r12, r7, r8, ror #2
    eor r3, r5, r3, ror #2
    eors r3, r3, r7
    eor r0, r4, r0, ror #2
    eors r0, r0, r6
    eor r0, r0, r12, lsr #16
    eor r8, r0, r0, ror #16
    and r8, r8, #0x000f000f
    eors r10, r0, r8
    eor r8, r10, r10, ror #4
    and r8, r8, #0xeeeeeeee
    eors r10, r10, r8
    eor r9, r6, r1, ror #2
    eor r3, r3, r9, lsr #16
    eor r1, r3, r3, ror #16
    and r1, r1, #0x000f000f
    eors r1, r1, r3
    eor r8, r1, r1, ror #4
    and r8, r8, #0xeeeeeeee
    eors r1, r1, r8
    eor r0, r0, r10, ror #1
    eor r3, r3, r1, ror #1
    lsr r11, r3, #16
    eors r7, r0, r11
    eor r7, r7, r1, ror #1
    eor r1, r5, r9, lsr #16
    eor r8, r12, r12, lsr #16
    eor r1, r1, r8, ror #16
    eor r8, r1, r1, ror #16
    and r8, r8, #0x000f000f
    eors r8, r8, r1
    eor lr, r8, r8, ror #4
    and lr, lr, #0xeeeeeeee
    eors r8, r8, lr
    eor r9, r9, r9, lsr #16
    eor r9, r9, r12, lsr #16
    eor r5, r4, r9, ror #16
    eor r9, r5, r5, ror #16
    and r9, r9, #0x000f000f
    eors r9, r9, r5
    eor r12, r9, r9, ror #4
    and r12, r12, #0xeeeeeeee
    eors r9, r9, r12
    eor r5, r5, r9, ror #1
    rev16 r4, r5
    eor r12, r4, r4, ror #28
    and r12, r12, #0x33333333
    eors r4, r4, r12
    eors r5, r5, r11
    eor r11, r3, r3, lsr #16
    eor r4, r4, r11, ror #14
    eor r1, r1, r8, ror #1
    eor r6, r1, r10, ror #1
    rev16 r1, r1
    eor r10, r1, r1, ror #28
    and r10, r10, #0x33333333
    eors r1, r1, r10
    eor r4, r4, r9, ror #31
    rev16 r3, r3
    eor r9, r3, r3, ror #28
    and r9, r9, #0x33333333
    eors r3, r3, r9
    eor r5, r5, r8, ror #1
    rev16 r0, r0
    eor r8, r0, r0, ror #28
    and r8, r8, #0x33333333
    eors r0, r0, r8
    eor r7, r7, r3, ror #2
    eor r5, r5, r1, ror #2
    eor r6, r6, r0, ror #2
    ror r4, r4, #2
.endm

.macro MIX2
    eor r0, r7, r7, ror #16
    and r0, r0, #0x000f000f
    eors r1, r7, r0
    eor r0, r1, r1, ror #4
    and r0, r0, #0xcccccccc
    eors r1, r1, r0
    eor r0, r6, r6, ror #16
    and r0, r0, #0x000f000f
    eors r10, r6, r0
    eor r0, r10, r10, ror #4
    and r0, r0, #0xcccccccc
    eors r10, r10, r0
    eor r3, r7, r1, ror #2
    eor r0, r6, r10, ror #2
    lsr r9, r3, #16
    eors r7, r0, r9
    eor r7, r7, r1, ror #2
    rev16 r1, r3
    eors r7, r7, r1
    eor r1, r5, r5, ror #16
    and r1, r1, #0x000f000f
    eors r8, r5, r1
    eor r1, r8, r8, ror #4
    and r1, r1, #0xcccccccc
    eors r8, r8, r1
    eor r1, r5, r8, ror #2
    rev16 r0, r0
    eor r6, r1, r10, ror #2
    eors r6, r6, r0
    eor r0, r4, r4, ror #16
    and r0, r0, #0x000f000f
    eors r0, r0, r4
    eor r10, r0, r0, ror #4
    and r10, r10, #0xcccccccc
    eors r0, r0, r10
    eor r4, r4, r0, ror #2
    eors r5, r4, r9
    eor r5, r5, r8, ror #2
    rev16 r4, r4
    eor r3, r3, r3, lsr #16
    eor r4, r4, r3, ror #16
    rev16 r1, r1
    eors r5, r5, r1
    eor r4, r4, r0, ror #2
.endm

.macro INVERSE_MIX2
    rev16 r0, r7
    eors r12, r7, r0
    rev16 r0, r6
    eors r8, r6, r0
    eor r1, r12, r12, lsr #16
    eor r0, r5, r8, lsr #16
    eor r0, r0, r1, ror #16
    eor r1, r0, r0, ror #16
    and r1, r1, #0x000f000f
    eors r9, r0, r1
    eor r1, r9, r9, ror #4
    and r1, r1, #0xcccccccc
    eors r9, r9, r1
    rev16 r1, r5
    eors r1, r1, r5
    eors r10, r7, r1
    rev16 r1, r4
    eors r1, r1, r4
    eors r1, r1, r6
    eor r10, r10, r8, lsr #16
    eor r3, r10, r10, ror #16
    and r3, r3, #0x000f000f
    eors lr, r10, r3
    eor r3, lr, lr, ror #4
    and r3, r3, #0xcccccccc
    eors lr, lr, r3
    eor r1, r1, r12, lsr #16
    eor r3, r1, r1, ror #16
    and r3, r3, #0x000f000f
    eors r3, r3, r1
    eor r11, r3, r3, ror #4
    and r11, r11, #0xcccccccc
    eors r3, r3, r11
    eor r1, r1, r3, ror #2
    eor r10, r10, lr, ror #2
    lsr r11, r10, #16
    eors r7, r1, r11
    eor r7, r7, lr, ror #2
    eor r8, r8, r8, lsr #16
    eor r8, r8, r12, lsr #16
    eor r4, r4, r8, ror #16
    rev16 r8, r10
    eors r7, r7, r8
    eor r8, r4, r4, ror #16
    and r8, r8, #0x000f000f
    eors r8, r8, r4
    eor r12, r8, r8, ror #4
    and r12, r12, #0xcccccccc
    eors r8, r8, r12
    eor r10, r10, r10, lsr #16
    eor r4, r4, r8, ror #2
    eors r5, r4, r11
    rev16 r4, r4
    eor r4, r4, r10, ror #16
    eor r5, r5, r9, ror #2
    eor r0, r0, r9, ror #2
    eor r4, r4, r8, ror #2
    rev16 r1, r1
    eor r6, r0, r3, ror #2
    eors r6, r6, r1
    rev16 r0, r0
    eors r5, r5, r0
.endm

.macro MIX3
    eor r0, r6, r6, ror #16
    and r0, r0, #0x000f000f
    eors r1, r6, r0
    eor r0, r1, r1, ror #4
    and r0, r0, #0x88888888
    eors r1, r1, r0
    eor r0, r7, r7, ror #16
    and r0, r0, #0x000f000f
    eors r0, r0, r7
    eor r3, r0, r0, ror #4
    and r3, r3, #0x88888888
    eors r0, r0, r3
    eor r9, r6, r1, ror #3
    eor r8, r7, r0, ror #3
    lsr r11, r8, #16
    eors r7, r9, r11
    eor r7, r7, r0, ror #3
    eor r0, r5, r5, ror #16
    and r0, r0, #0x000f000f
    eors r10, r5, r0
    eor r0, r10, r10, ror #4
    and r0, r0, #0x88888888
    eors r10, r10, r0
    eor r0, r4, r4, ror #16
    and r0, r0, #0x000f000f
    eors r0, r0, r4
    eor r3, r0, r0, ror #4
    and r3, r3, #0x88888888
    eors r0, r0, r3
    rev16 r9, r9
    eor r3, r9, r9, ror #28
    and r3, r3, #0x33333333
    eors r9, r9, r3
    eor r3, r5, r10, ror #3
    eor r4, r4, r0, ror #3
    eors r5, r4, r11
    eor r5, r5, r10, ror #3
    eor r6, r3, r1, ror #3
    rev16 r3, r3
    eor r1, r3, r3, ror #28
    and r1, r1, #0x33333333
    eors r3, r3, r1
    rev16 r1, r8
    eor r10, r1, r1, ror #28
    and r10, r10, #0x33333333
    eors r1, r1, r10
    eor r6, r6, r9, ror #2
    rev16 r4, r4
    eor r9, r4, r4, ror #28
    and r9, r9, #0x33333333
    eors r4, r4, r9
    eor r8, r8, r8, lsr #16
    eor r4, r4, r8, ror #14
    eor r5, r5, r3, ror #2
    eor r7, r7, r1, ror #2
    eor r4, r4, r0, ror #1
    ror r4, r4, #2
.endm

.macro INVERSE_MIX3
    rev16 r3, r5
    eor r0, r3, r3, ror #28
    and r0, r0, #0x33333333
    eors r3, r3, r0
    rev16 r0, r4
    eor r1, r0, r0, ror #28
    and r1, r1, #0x33333333
    eors r0, r0, r1
    rev16 r1, r6
    eor r8, r1, r1, ror #28
    and r8, r8, #0x33333333
    eors r1, r1, r8
    rev16 r8, r7
    eor r9, r8, r8, ror #28
    and r9, r9, #0x33333333
    eors r8, r8, r9
    eor r12, r7, r8, ror #2
    eor r3, r5, r3, ror #2
    eors r3, r3, r7
    eor r0, r4, r0, ror #2
    eors r0, r0, r6
    eor r0, r0, r12, lsr #16
    eor r8, r0, r0, ror #16
    and r8, r8, #0x000f000f
    eors r10, r0, r8
    eor r8, r10, r10, ror #4
    and r8, r8, #0x88888888
    eors r10, r10, r8
    eor r9, r6, r1, ror #2
    eor r3, r3, r9, lsr #16
    eor r1, r3, r3, ror #16
    and r1, r1, #0x000f000f
    eors r1, r1, r3
    eor r8, r1, r1, ror #4
    and r8, r8, #0x88888888
    eors r1, r1, r8
    eor r0, r0, r10, ror #3
    eor r3, r3, r1, ror #3
    lsr r11, r3, #16
    eors r7, r0, r11
    eor r7, r7, r1, ror #3
    eor r1, r5, r9, lsr #16
    eor r8, r12, r12, lsr #16
    eor r1, r1, r8, ror #16
    eor r8, r1, r1, ror #16
    and r8, r8, #0x000f000f
    eors r8, r8, r1
    eor lr, r8, r8, ror #4
    and lr, lr, #0x88888888
    eors r8, r8, lr
    eor r9, r9, r9, lsr #16
    eor r9, r9, r12, lsr #16
    eor r5, r4, r9, ror #16
    eor r9, r5, r5, ror #16
    and r9, r9, #0x000f000f
    eors r9, r9, r5
    eor r12, r9, r9, ror #4
    and r12, r12, #0x88888888
    eors r9, r9, r12
    eor r5, r5, r9, ror #3
    rev16 r4, r5
    eor r12, r4, r4, ror #28
    and r12, r12, #0x33333333
    eors r4, r4, r12
    eors r5, r5, r11
    eor r11, r3, r3, lsr #16
    eor r4, r4, r11, ror #14
    eor r1, r1, r8, ror #3
    eor r6, r1, r10, ror #3
    rev16 r1, r1
    eor r10, r1, r1, ror #28
    and r10, r10, #0x33333333
    eors r1, r1, r10
    eor r4, r4, r9, ror #1
    rev16 r3, r3
    eor r9, r3, r3, ror #28
    and r9, r9, #0x33333333
    eors r3, r3, r9
    eor r5, r5, r8, ror #3
    rev16 r0, r0
    eor r8, r0, r0, ror #28
    and r8, r8, #0x33333333
    eors r0, r0, r8
    eor r7, r7, r3, ror #2
    eor r5, r5, r1, ror #2
    eor r6, r6, r0, ror #2
    ror r4, r4, #2
.endm

LOCAL invert_and_map
    eor r12, r6, r6, lsl #16
    ror r12, r12, #16
    eor r11, r4, r12, lsl #16
    eor r9, r7, r11, lsr #16
    eor r11, r11, r9, ror #16
    eor r11, r11, r11, lsl #16
    eor r8, r5, r12, lsl #16
    eor r11, r11, r11, lsr #16
    eor r12, r12, r8, lsl #16
    eor r11, r11, r12, ror #16
    eor r8, r8, r11, lsl #16
    eor r12, r12, r8, lsr #16
    eors r12, r12, r8
    eor r12, r12, r9, ror #16
    eors r5, r11, r8
    and r1, r5, r5, ror #16
    and r10, r12, r12, ror #16
    eors r10, r10, r1
    eor r9, r9, r9, lsr #16
    eors r3, r12, r8
    orr r3, r3, r3, ror #16
    eors r0, r12, r9
    orr r7, r0, r0, ror #16
    eors r4, r7, r3
    eors r4, r4, r10
    eor r6, r12, r12, ror #16
    eors r6, r6, r4
    eors r0, r0, r5
    and r0, r0, r0, ror #16
    eors r3, r3, r0
    and r0, r9, r9, ror #16
    orr r4, r8, r8, ror #16
    eors r0, r0, r4
    eors r4, r4, r7
    eors r10, r10, r4
    eors r4, r4, r3
    eors r3, r3, r0
    eors r7, r9, r11
    orr r7, r7, r7, ror #16
    eors r1, r1, r7
    and r0, r11, r11, ror #16
    eors r0, r0, r7
    eor r5, r5, r5, ror #16
    eors r5, r5, r4
    eors r0, r0, r10
    eors r1, r1, r3
    eors r10, r0, r1
    ands r3, r5, r0
    eors r4, r6, r3
    ands r4, r4, r10
    eors r10, r1, r3
    eors r4, r4, r1
    eors r3, r10, r4
    ands r1, r1, r3
    eors r5, r5, r6
    ands r3, r5, r10
    eors r3, r3, r6
    eors r10, r10, r1
    ands r10, r10, r3
    eors r5, r5, r10
    eors r10, r12, r8
    eors r6, r3, r5
    ands r6, r6, r10
    eors r1, r1, r0
    ands r10, r5, r8
    ands r0, r3, r12
    eors r10, r10, r0
    eors r0, r0, r6
    eors r6, r11, r8
    eors r1, r1, r4
    ands r8, r1, r11
    eors r11, r11, r9
    eors r5, r5, r1
    eors r1, r1, r4
    ands r1, r1, r11
    eors r3, r3, r4
    eors r12, r12, r9
    eors r11, r5, r3
    ands r3, r3, r12
    eors r12, r12, r6
    ands r5, r5, r6
    ands r11, r11, r12
    eors r11, r11, r5
    eors r7, r10, r11
    eors r8, r8, r10
    ands r4, r4, r9
    eors r1, r1, r8
    eors r4, r4, r8
    eors r5, r5, r3
    eors r6, r5, r1
    eors r5, r5, r0
    eors r5, r5, r6
    eor r7, r7, r5, lsl #16
    eor r5, r5, r7, lsr #16
    eor r4, r4, r5, lsr #16
    eor r7, r7, r7, lsl #16
    eors r7, r7, r4
    ror r6, r6, #16
    eor r4, r4, r6, lsl #16
    eors r5, r5, r4
    eor r4, r4, r4, lsl #16
    eor r5, r5, r4, ror #16
    bx lr
    .size invert_and_map, . - invert_and_map

LOCAL map_and_invert
    eor r0, r5, r6, ror #16
    eor r3, r7, r7, lsl #16
    eor r0, r0, r3, lsr #16
    eor r0, r0, r0, lsl #16
    eor r12, r6, r0, ror #16
    eor r3, r3, r4, lsr #16
    eor r1, r4, r3, ror #16
    eors r11, r0, r12
    eors r8, r11, r1
    and r8, r8, r8, ror #16
    and r10, r1, r1, ror #16
    eors r10, r10, r8
    and r7, r11, r11, ror #16
    eors r7, r7, r8
    eor r3, r3, r0, lsr #16
    eor r3, r3, r11, lsl #16
    eors r5, r3, r12
    orr r5, r5, r5, ror #16
    and r9, r3, r3, ror #16
    eors r9, r9, r5
    eors r8, r11, r3
    and r4, r8, r8, ror #16
    eors r6, r12, r1
    orr r0, r6, r6, ror #16
    eors r0, r0, r4
    eors r9, r9, r0
    eors r0, r0, r7
    eors r6, r6, r8
    and r6, r6, r6, ror #16
    eors r4, r4, r6
    eors r10, r10, r4
    eor r8, r8, r8, ror #16
    eors r8, r8, r10
    and r10, r12, r12, ror #16
    eors r10, r10, r5
    eors r4, r4, r10
    eor r5, r1, r1, ror #16
    eors r5, r5, r9
    ands r10, r4, r8
    eors r9, r5, r10
    eors r6, r8, r0
    ands r9, r9, r6
    eors r9, r9, r0
    eors r10, r10, r0
    eors r6, r10, r9
    ands r0, r0, r6
    eors r4, r4, r5
    ands r7, r4, r10
    eors r7, r7, r5
    eors r10, r10, r0
    ands r10, r10, r7
    eors r4, r4, r10
    eors r0, r0, r8
    eors r8, r7, r4
    eors r10, r11, r1
    ands r8, r8, r10
    eors r0, r0, r9
    eors r5, r9, r0
    eors r10, r3, r12
    ands r5, r5, r10
    ands r6, r0, r12
    eors r12, r12, r1
    ands r1, r1, r4
    eors r6, r6, r1
    ands r10, r9, r3
    eors r10, r10, r6
    eors r5, r5, r8
    eors r6, r6, r5
    eors r0, r0, r4
    eors r4, r7, r9
    eors r9, r11, r3
    eors r3, r0, r4
    eors r5, r12, r9
    ands r3, r3, r5
    ands r0, r0, r12
    ands r7, r7, r11
    eors r7, r7, r10
    eors r0, r0, r10
    ands r4, r4, r9
    eors r4, r4, r8
    eors r1, r1, r3
    eors r5, r4, r1
    eors r4, r4, r0
    eor r5, r5, r5, lsl #16
    ror r4, r4, #16
    eor r6, r6, r4, lsl #16
    ror r5, r5, #16
    ror r7, r7, #16
    eor r4, r4, r7, lsr #16
    eor r7, r7, r4, lsl #16
    eor r5, r5, r7, lsr #16
    eors r5, r5, r4
    eor r7, r7, r5, ror #16
    eor r5, r5, r4, ror #16
    eor r5, r5, r6, ror #16
    eor r7, r7, r5, lsl #16
    eor r4, r4, r7, ror #16
    bx lr
    .size map_and_invert, . - map_and_invert

    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, %function
    .section .text.crypto_block_encrypt_schedule, "ax", %progbits
    .thumb_func
crypto_block_decrypt_schedule:
FUNCTION crypto_block_encrypt_schedule
    push {r0, r4-r11, lr}
    mov r2, r0
    adr r12, 3f
    push {r12}
    LOAD r1
    eor r0, r7, r6, lsr #1
    and r0, r0, #0x55555555
    eor r6, r6, r0, lsl #1
    eors r7, r7, r0
    eor r0, r5, r4, lsr #1
    and r0, r0, #0x55555555
    eor r4, r4, r0, lsl #1
    eor r1, r6, r4, lsr #2
    and r1, r1, #0x33333333
    eor r4, r4, r1, lsl #2
    eors r6, r6, r1
    eors r5, r5, r0
    eor r0, r4, r4, lsr #4
    and r0, r0, #0x00f000f0
    eors r4, r4, r0
    eor r4, r4, r0, lsl #4
    eor r0, r4, r4, lsr #8
    and r0, r0, #0x0000ff00
    eors r4, r4, r0
    eor r4, r4, r0, lsl #8
    eor r0, r7, r5, lsr #2
    and r0, r0, #0x33333333
    eors r7, r7, r0
    eor r1, r7, r7, lsr #4
    and r1, r1, #0x00f000f0
    eors r7, r7, r1
    eor r7, r7, r1, lsl #4
    eor r5, r5, r0, lsl #2
    eor r0, r5, r5, lsr #4
    and r0, r0, #0x00f000f0
    eors r5, r5, r0
    eor r5, r5, r0, lsl #4
    eor r0, r5, r5, lsr #8
    and r0, r0, #0x0000ff00
    eors r5, r5, r0
    eor r5, r5, r0, lsl #8
    eor r0, r6, r6, lsr #4
    and r0, r0, #0x00f000f0
    eors r6, r6, r0
    eor r6, r6, r0, lsl #4
    eor r0, r6, r6, lsr #8
    and r0, r0, #0x0000ff00
    eors r6, r6, r0
    eor r6, r6, r0, lsl #8
    eor r0, r7, r7, lsr #8
    and r0, r0, #0x0000ff00
    eors r7, r7, r0
    eor r7, r7, r0, lsl #8
    stmia r2, {r4-r7}
2:  bl invert_and_map
    ldmia r2!, {r8-r11}
    ldr r12, [sp]
    ldr r3, [r12], #4
    str r12, [sp]
    and r1, r4, #0x88888888
    eor r0, r1, r1, ror #16
    and r0, r0, #0x00080008
    eors r1, r1, r0
    and r0, r7, #0x88888888
    eor r12, r0, r0, ror #16
    and r12, r12, #0x00080008
    eors r0, r0, r12
    eor r4, r8, r1, ror #7
    eor r7, r11, r0, ror #7
    and r0, r6, #0x88888888
    eor r1, r0, r0, ror #16
    and r1, r1, #0x00080008
    eors r0, r0, r1
    and r1, r7, #0x77777777
    eor r7, r7, r1, ror #31
    eor r6, r10, r0, ror #7
    and r0, r5, #0x88888888
    eor r1, r0, r0, ror #16
    and r1, r1, #0x00080008
    eors r0, r0, r1
    and r1, r4, #0x77777777
    eor r4, r4, r1, ror #31
    and r1, r7, #0x33333333
    eor r7, r7, r1, ror #30
    eor r5, r9, r0, ror #7
    and r0, r6, #0x77777777
    eor r6, r6, r0, ror #31
    and r0, r5, #0x77777777
    eor r5, r5, r0, ror #31
    and r0, r4, #0x33333333
    eor r4, r4, r0, ror #30
    and r0, r3, #0x00010001
    rsb r0, r0, r0, lsl #4
    eors r4, r4, r0
    and r0, r3, #0x00080008
    rsb r0, r0, r0, lsl #4
    eor r7, r7, r0, ror #3
    and r0, r6, #0x33333333
    eor r6, r6, r0, ror #30
    and r0, r3, #0x00040004
    rsb r0, r0, r0, lsl #4
    eor r6, r6, r0, ror #2
    and r0, r5, #0x33333333
    eor r5, r5, r0, ror #30
    movw r0, #0xffff
    eors r4, r4, r0
    eor r6, r6, r0, lsl #16
    and r0, r3, #0x00020002
    rsb r0, r0, r0, lsl #4
    eor r5, r5, r0, ror #1
    mvns r5, r5
    stmia r2, {r4-r7}
    ldr r12, [sp]
    ldr r12, [r12]
    cmp r12, #0
    bne 2b
    /* rows to where the rounds expect them, and the constant */
    ldr r2, [sp, #4]
    adds r2, r2, #16
1:  ldmia r2, {r4-r7}
    eor r1, r6, r6, lsr #2
    and r1, r1, #0x33003300
    eors r0, r6, r1
    eor r0, r0, r1, lsl #2
    and r1, r0, #0x70707070
    and r6, r0, #0x0f0f0f0f
    eor r6, r6, r1, ror #31
    and r0, r0, #0x80808080
    eor r6, r6, r0, ror #3
    eor r1, r4, r4, lsr #2
    and r1, r1, #0x33003300
    eors r0, r4, r1
    eor r0, r0, r1, lsl #2
    and r1, r0, #0x70707070
    and r4, r0, #0x0f0f0f0f
    eor r4, r4, r1, ror #31
    and r0, r0, #0x80808080
    eor r4, r4, r0, ror #3
    eor r1, r5, r5, lsr #2
    and r1, r1, #0x33003300
    eors r0, r5, r1
    eor r0, r0, r1, lsl #2
    eor r3, r7, r7, lsr #2
    and r3, r3, #0x33003300
    eors r1, r7, r3
    eor r1, r1, r3, lsl #2
    and r5, r0, #0x0f0f0f0f
    and r3, r0, #0x70707070
    eor r5, r5, r3, ror #31
    movw r3, #0xffff
    eor r6, r6, r3, lsl #16
    eors r4, r4, r3
    and r7, r1, #0x0f0f0f0f
    and r3, r1, #0x70707070
    eor r7, r7, r3, ror #31
    and r1, r1, #0x80808080
    eor r7, r7, r1, ror #3
    and r0, r0, #0x80808080
    eor r5, r5, r0, ror #3
    mvns r5, r5
    stmia r2, {r4-r7}
    add r2, r2, #64
    ldr r12, [sp, #4]
    add r12, r12, #144
    cmp r2, r12
    bls 1b
    ldr r2, [sp, #4]
    adds r2, r2, #32
1:  ldmia r2, {r4-r7}
    eor r0, r4, r4, lsr #2
    and r0, r0, #0x30303030
    eors r4, r4, r0
    eor r4, r4, r0, lsl #2
    eor r0, r6, r6, lsr #2
    and r0, r0, #0x30303030
    eors r6, r6, r0
    eor r6, r6, r0, lsl #2
    movw r0, #0xffff
    eor r6, r6, r0, lsl #16
    eors r4, r4, r0
    eor r0, r7, r7, lsr #2
    and r0, r0, #0x30303030
    eors r7, r7, r0
    eor r7, r7, r0, lsl #2
    eor r0, r5, r5, lsr #2
    and r0, r0, #0x30303030
    eors r5, r5, r0
    eor r5, r5, r0, lsl #2
    mvns r5, r5
    stmia r2, {r4-r7}
    add r2, r2, #64
    ldr r12, [sp, #4]
    add r12, r12, #160
    cmp r2, r12
    bls 1b
    ldr r2, [sp, #4]
    adds r2, r2, #48
1:  ldmia r2, {r4-r7}
    eor r1, r6, r6, lsr #2
    and r1, r1, #0x33003300
    eors r0, r6, r1
    eor r0, r0, r1, lsl #2
    and r1, r0, #0x10101010
    and r6, r0, #0x0f0f0f0f
    eor r6, r6, r1, ror #29
    and r0, r0, #0xe0e0e0e0
    eor r6, r6, r0, ror #1
    eor r1, r4, r4, lsr #2
    and r1, r1, #0x33003300
    eors r0, r4, r1
    eor r0, r0, r1, lsl #2
    and r1, r0, #0x10101010
    and r4, r0, #0x0f0f0f0f
    eor r4, r4, r1, ror #29
    and r0, r0, #0xe0e0e0e0
    eor r4, r4, r0, ror #1
    eor r1, r5, r5, lsr #2
    and r1, r1, #0x33003300
    eors r0, r5, r1
    eor r0, r0, r1, lsl #2
    eor r3, r7, r7, lsr #2
    and r3, r3, #0x33003300
    eors r1, r7, r3
    eor r1, r1, r3, lsl #2
    and r5, r0, #0x0f0f0f0f
    and r3, r0, #0x10101010
    eor r5, r5, r3, ror #29
    movw r3, #0xffff
    eor r6, r6, r3, lsl #16
    eors r4, r4, r3
    and r7, r1, #0x0f0f0f0f
    and r3, r1, #0x10101010
    eor r7, r7, r3, ror #29
    and r1, r1, #0xe0e0e0e0
    eor r7, r7, r1, ror #1
    and r0, r0, #0xe0e0e0e0
    eor r5, r5, r0, ror #1
    mvns r5, r5
    stmia r2, {r4-r7}
    add r2, r2, #64
    ldr r12, [sp, #4]
    add r12, r12, #112
    cmp r2, r12
    bls 1b
    ldr r2, [sp, #4]
    adds r2, r2, #64
1:  ldmia r2, {r4-r7}
    movw r0, #0xffff
    eor r6, r6, r0, lsl #16
    eors r4, r4, r0
    mvns r5, r5
    stmia r2, {r4-r7}
    add r2, r2, #64
    ldr r12, [sp, #4]
    add r12, r12, #128
    cmp r2, r12
    bls 1b
    movs r0, #0
    add sp, sp, #8
    pop {r4-r11, pc}
    .align 2
3:  .word 0x1, 0x2, 0x4, 0x8, 0x10000, 0x20000, 0x40000, 0x80000, 0x1000b, 0x30006, 0
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule

FUNCTION crypto_block_encrypt
    push {r0, r4-r11, lr}
    add r12, r2, #(16 * 9)
    push {r12}
    LOAD r1
    eor r0, r7, r6, lsr #1
    and r0, r0, #0x55555555
    eor r6, r6, r0, lsl #1
    eors r7, r7, r0
    eor r0, r5, r4, lsr #1
    and r0, r0, #0x55555555
    eor r4, r4, r0, lsl #1
    eor r1, r6, r4, lsr #2
    and r1, r1, #0x33333333
    eor r4, r4, r1, lsl #2
    eors r6, r6, r1
    eors r5, r5, r0
    eor r0, r4, r4, lsr #4
    and r0, r0, #0x00f000f0
    eors r4, r4, r0
    eor r4, r4, r0, lsl #4
    eor r0, r4, r4, lsr #8
    and r0, r0, #0x0000ff00
    eors r4, r4, r0
    eor r4, r4, r0, lsl #8
    eor r0, r7, r5, lsr #2
    and r0, r0, #0x33333333
    eors r7, r7, r0
    eor r1, r7, r7, lsr #4
    and r1, r1, #0x00f000f0
    eors r7, r7, r1
    eor r7, r7, r1, lsl #4
    eor r5, r5, r0, lsl #2
    eor r0, r5, r5, lsr #4
    and r0, r0, #0x00f000f0
    eors r5, r5, r0
    eor r5, r5, r0, lsl #4
    eor r0, r5, r5, lsr #8
    and r0, r0, #0x0000ff00
    eors r5, r5, r0
    eor r5, r5, r0, lsl #8
    eor r0, r6, r6, lsr #4
    and r0, r0, #0x00f000f0
    eors r6, r6, r0
    eor r6, r6, r0, lsl #4
    eor r0, r6, r6, lsr #8
    and r0, r0, #0x0000ff00
    eors r6, r6, r0
    eor r6, r6, r0, lsl #8
    eor r0, r7, r7, lsr #8
    and r0, r0, #0x0000ff00
    eors r7, r7, r0
    eor r7, r7, r0, lsl #8
    ADD_KEY
1:
    bl invert_and_map
    MIX1
    ADD_KEY
    bl invert_and_map
    MIX2
    ADD_KEY
    bl invert_and_map
    MIX3
    ADD_KEY
    bl invert_and_map
    MIX0
    ADD_KEY
    ldr r12, [sp]
    cmp r2, r12
    bne 1b
    bl invert_and_map
    MIX1
    ADD_KEY
    bl invert_and_map
    ADD_KEY
    eor r0, r7, r7, lsr #2
    and r0, r0, #0x30303030
    eors r7, r7, r0
    eor r7, r7, r0, lsl #2
    eor r0, r7, r7, lsr #8
    and r0, r0, #0x0000ff00
    eors r7, r7, r0
    eor r7, r7, r0, lsl #8
    eor r0, r4, r4, lsr #2
    and r0, r0, #0x30303030
    eors r4, r4, r0
    eor r4, r4, r0, lsl #2
    eor r0, r5, r5, lsr #2
    and r0, r0, #0x30303030
    eors r5, r5, r0
    eor r5, r5, r0, lsl #2
    eor r0, r4, r4, lsr #8
    and r0, r0, #0x0000ff00
    eors r4, r4, r0
    eor r4, r4, r0, lsl #8
    eor r0, r7, r7, lsr #4
    and r0, r0, #0x00f000f0
    eors r7, r7, r0
    eor r7, r7, r0, lsl #4
    eor r0, r5, r5, lsr #8
    and r0, r0, #0x0000ff00
    eors r5, r5, r0
    eor r5, r5, r0, lsl #8
    eor r0, r5, r5, lsr #4
    and r0, r0, #0x00f000f0
    eors r5, r5, r0
    eor r5, r5, r0, lsl #4
    eor r0, r4, r4, lsr #4
    and r0, r0, #0x00f000f0
    eors r4, r4, r0
    eor r4, r4, r0, lsl #4
    eor r0, r6, r6, lsr #2
    and r0, r0, #0x30303030
    eors r6, r6, r0
    eor r6, r6, r0, lsl #2
    eor r0, r6, r6, lsr #8
    and r0, r0, #0x0000ff00
    eors r6, r6, r0
    eor r6, r6, r0, lsl #8
    eor r0, r6, r6, lsr #4
    and r0, r0, #0x00f000f0
    eors r6, r6, r0
    eor r6, r6, r0, lsl #4
    eor r0, r5, r4, lsr #1
    and r0, r0, #0x55555555
    eors r5, r5, r0
    eor r4, r4, r0, lsl #1
    eor r0, r7, r6, lsr #1
    and r0, r0, #0x55555555
    eors r7, r7, r0
    eor r1, r7, r5, lsr #2
    and r1, r1, #0x33333333
    eors r7, r7, r1
    eor r5, r5, r1, lsl #2
    eor r6, r6, r0, lsl #1
    eor r0, r6, r4, lsr #2
    and r0, r0, #0x33333333
    eors r6, r6, r0
    eor r4, r4, r0, lsl #2
    ldr r0, [sp, #4]
    STORE r0
    movs r0, #0
    add sp, sp, #8
    pop {r4-r11, pc}
    .size crypto_block_encrypt, . - crypto_block_encrypt

FUNCTION crypto_block_decrypt
    push {r0, r4-r11, lr}
    add r12, r2, #16
    push {r12}
    add r2, r2, #(16 * 11)
    LOAD r1
    eor r0, r7, r6, lsr #1
    and r0, r0, #0x55555555
    eor r6, r6, r0, lsl #1
    eors r7, r7, r0
    eor r0, r5, r4, lsr #1
    and r0, r0, #0x55555555
    eor r4, r4, r0, lsl #1
    eors r5, r5, r0
    eor r1, r6, r4, lsr #2
    and r1, r1, #0x33333333
    eor r4, r4, r1, lsl #2
    eor r0, r4, r4, lsr #4
    and r0, r0, #0x00f000f0
    eors r4, r4, r0
    eor r4, r4, r0, lsl #4
    eor r0, r7, r5, lsr #2
    and r0, r0, #0x33333333
    eor r5, r5, r0, lsl #2
    eor r3, r5, r5, lsr #4
    and r3, r3, #0x00f000f0
    eors r5, r5, r3
    eor r5, r5, r3, lsl #4
    eors r6, r6, r1
    eor r1, r5, r5, lsr #8
    and r1, r1, #0x0000ff00
    eors r5, r5, r1
    eor r5, r5, r1, lsl #8
    eors r7, r7, r0
    eor r0, r6, r6, lsr #4
    and r0, r0, #0x00f000f0
    eors r6, r6, r0
    eor r6, r6, r0, lsl #4
    eor r0, r5, r5, lsr #2
    and r0, r0, #0x30303030
    eors r5, r5, r0
    eor r5, r5, r0, lsl #2
    eor r0, r4, r4, lsr #8
    and r0, r0, #0x0000ff00
    eors r4, r4, r0
    eor r4, r4, r0, lsl #8
    eor r0, r7, r7, lsr #4
    and r0, r0, #0x00f000f0
    eors r7, r7, r0
    eor r7, r7, r0, lsl #4
    eor r0, r7, r7, lsr #8
    and r0, r0, #0x0000ff00
    eors r7, r7, r0
    eor r7, r7, r0, lsl #8
    eor r0, r7, r7, lsr #2
    and r0, r0, #0x30303030
    eors r7, r7, r0
    eor r7, r7, r0, lsl #2
    eor r0, r6, r6, lsr #8
    and r0, r0, #0x0000ff00
    eors r6, r6, r0
    eor r6, r6, r0, lsl #8
    eor r0, r6, r6, lsr #2
    and r0, r0, #0x30303030
    eors r6, r6, r0
    eor r6, r6, r0, lsl #2
    eor r0, r4, r4, lsr #2
    and r0, r0, #0x30303030
    eors r4, r4, r0
    eor r4, r4, r0, lsl #2
    ADD_KEY_BEFORE
    bl map_and_invert
    ADD_KEY_BEFORE
    INVERSE_MIX1
    bl map_and_invert
1:
    ADD_KEY_BEFORE
    INVERSE_MIX0
    bl map_and_invert
    ADD_KEY_BEFORE
    INVERSE_MIX3
    bl map_and_invert
    ADD_KEY_BEFORE
    INVERSE_MIX2
    bl map_and_invert
    ADD_KEY_BEFORE
    INVERSE_MIX1
    bl map_and_invert
    ldr r12, [sp]
    cmp r2, r12
    bne 1b
    ADD_KEY_BEFORE
    eor r0, r4, r4, lsr #8
    and r0, r0, #0x0000ff00
    eors r4, r4, r0
    eor r4, r4, r0, lsl #8
    eor r0, r5, r5, lsr #8
    and r0, r0, #0x0000ff00
    eors r5, r5, r0
    eor r5, r5, r0, lsl #8
    eor r0, r7, r7, lsr #8
    and r0, r0, #0x0000ff00
    eors r7, r7, r0
    eor r7, r7, r0, lsl #8
    eor r0, r4, r4, lsr #4
    and r0, r0, #0x00f000f0
    eors r4, r4, r0
    eor r4, r4, r0, lsl #4
    eor r0, r7, r7, lsr #4
    and r0, r0, #0x00f000f0
    eors r7, r7, r0
    eor r7, r7, r0, lsl #4
    eor r0, r5, r5, lsr #4
    and r0, r0, #0x00f000f0
    eors r5, r5, r0
    eor r5, r5, r0, lsl #4
    eor r0, r6, r6, lsr #8
    and r0, r0, #0x0000ff00
    eors r6, r6, r0
    eor r6, r6, r0, lsl #8
    eor r0, r6, r6, lsr #4
    and r0, r0, #0x00f000f0
    eors r6, r6, r0
    eor r6, r6, r0, lsl #4
    eor r0, r5, r4, lsr #1
    and r0, r0, #0x55555555
    eors r5, r5, r0
    eor r4, r4, r0, lsl #1
    eor r0, r7, r6, lsr #1
    and r0, r0, #0x55555555
    eors r7, r7, r0
    eor r1, r7, r5, lsr #2
    and r1, r1, #0x33333333
    eors r7, r7, r1
    eor r5, r5, r1, lsl #2
    eor r6, r6, r0, lsl #1
    eor r0, r6, r4, lsr #2
    and r0, r0, #0x33333333
    eors r6, r6, r0
    eor r4, r4, r0, lsl #2
    ldr r0, [sp, #4]
    STORE r0
    movs r0, #0
    add sp, sp, #8
    pop {r4-r11, pc}
    .size crypto_block_decrypt, . - crypto_block_decrypt
