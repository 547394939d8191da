/*
 * SIMON64/128 and SIMON64/96 (ePrint 2013/404) in AVR assembly, four rounds in
 * the loop; that of 42 rounds is entered behind the second.
 */
#include "api.h"

#if CRYPTO_KEYBYTES == 16
#define ROUNDS 44
#else
#define ROUNDS 42
#endif

    .set count, 26

    .text

.macro LEFT_1 a, b, c, d
    lsl \a
    rol \b
    rol \c
    rol \d
    adc \a, r1
.endm

.macro RIGHT_1 a, b, c, d
    bst \a, 0
    ror \d
    ror \c
    ror \b
    ror \a
    bld \d, 7
.endm

/* y + S^1 x & S^8 x, one byte; t is S^1 x */
.macro AND_TO y, t, x
    mov r0, \x
    and r0, \t
    eor \y, r0
.endm

/* y takes f(x); t is in r14 to r17. */
.macro HALF x0, x1, x2, x3, y0, y1, y2, y3
    movw r14, \x0
    movw r16, \x2
    LEFT_1 r14, r15, r16, r17
    AND_TO \y0, r14, \x3
    AND_TO \y1, r15, \x0
    AND_TO \y2, r16, \x1
    AND_TO \y3, r17, \x2
    LEFT_1 r14, r15, r16, r17
    eor \y0, r14
    eor \y1, r15
    eor \y2, r16
    eor \y3, r17
.endm

.macro KEY a, b, c, d
    .irp r, \a, \b, \c, \d
    ld r0, Z+
    eor \r, r0
    .endr
.endm

.macro KEY_BEFORE a, b, c, d
    .irp r, \d, \c, \b, \a
    ld r0, -Z
    eor \r, r0
    .endr
.endm

/* The arguments are out in r25:r24, in in r23:r22 and ctx in r21:r20; x comes
 * to r18 to r21, y to r22 to r25. */
.macro LOAD
    .irp r, r14, r15, r16, r17, r24, r25
    push \r
    .endr
    movw r26, r22
    movw r30, r20
    .irp r, r21, r20, r19, r18, r25, r24, r23, r22
    ld \r, X+
    .endr
    ldi count, (ROUNDS + 2) / 4
.endm

.macro STORE
    pop r27
    pop r26
    .irp r, r21, r20, r19, r18, r25, r24, r23, r22
    st X+, \r
    .endr
    .irp r, r17, r16, r15, r14
    pop \r
    .endr
    ldi r24, 0
    ldi r25, 0
    ret
.endm

.macro TWO_ROUNDS
    HALF r18, r19, r20, r21, r22, r23, r24, r25
    KEY r22, r23, r24, r25
    HALF r22, r23, r24, r25, r18, r19, r20, r21
    KEY r18, r19, r20, r21
.endm

.macro TWO_INVERSE_ROUNDS
    HALF r22, r23, r24, r25, r18, r19, r20, r21
    KEY_BEFORE r18, r19, r20, r21
    HALF r18, r19, r20, r21, r22, r23, r24, r25
    KEY_BEFORE r22, r23, r24, r25
.endm

    .global crypto_block_encrypt
    .type crypto_block_encrypt, @function
crypto_block_encrypt:
    LOAD
#if ROUNDS == 42
    rjmp 2f
#endif
1:  TWO_ROUNDS
2:  TWO_ROUNDS
    dec count
    breq 3f
    rjmp 1b
3:  STORE
    .size crypto_block_encrypt, . - crypto_block_encrypt

    .global crypto_block_decrypt
    .type crypto_block_decrypt, @function
crypto_block_decrypt:
    LOAD
    subi r30, lo8(-4 * ROUNDS)
    sbci r31, hi8(-4 * ROUNDS)
#if ROUNDS == 42
    rjmp 2f
#endif
1:  TWO_INVERSE_ROUNDS
2:  TWO_INVERSE_ROUNDS
    dec count
    breq 3f
    rjmp 1b
3:  STORE
    .size crypto_block_decrypt, . - crypto_block_decrypt

/* k0 becomes ~k0 + t + S^-1 t + z + 3, where t is S^-3 of the last word, plus
 * k1 where the key has four; t is in r18 to r21, the bits of z in r22. */
.macro KEY_ROUND a0, a1, a2, a3, d0, d1, d2, d3, b0, b1, b2, b3
    movw r18, \d0
    movw r20, \d2
    .rept 3
    RIGHT_1 r18, r19, r20, r21
    .endr
#if CRYPTO_KEYBYTES == 16
    eor r18, \b0
    eor r19, \b1
    eor r20, \b2
    eor r21, \b3
#endif
    ldi r23, 0xFC
    lsr r22
    adc r23, r1
    eor \a0, r23
    com \a1
    com \a2
    com \a3
    eor \a0, r18
    eor \a1, r19
    eor \a2, r20
    eor \a3, r21
    RIGHT_1 r18, r19, r20, r21
    eor \a0, r18
    eor \a1, r19
    eor \a2, r20
    eor \a3, r21
    st X+, \a0
    st X+, \a1
    st X+, \a2
    st X+, \a3
.endm

    .global crypto_block_encrypt_schedule
    .type crypto_block_encrypt_schedule, @function
    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, @function
crypto_block_encrypt_schedule:
crypto_block_decrypt_schedule:
#if CRYPTO_KEYBYTES == 16
    .irp r, 2, 3, 4, 5
    push \r
    .endr
#endif
    .irp r, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    push \r
    .endr
    movw r30, r22
    movw r26, r24
    .irp r, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6
    ld \r, Z+
    .endr
#if CRYPTO_KEYBYTES == 16
    .irp r, 5, 4, 3, 2
    ld \r, Z+
    .endr
    .irp r, 2, 3, 4, 5
    st X+, \r
    .endr
#endif
    .irp r, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    st X+, \r
    .endr
    ldi r30, lo8(z)
    ldi r31, hi8(z)
    ldi r24, (ROUNDS - CRYPTO_KEYBYTES / 4) / (CRYPTO_KEYBYTES / 4)
1:  lpm r22, Z+
#if CRYPTO_KEYBYTES == 16
    KEY_ROUND r2, r3, r4, r5, r14, r15, r16, r17, r6, r7, r8, r9
    KEY_ROUND r6, r7, r8, r9, r2, r3, r4, r5, r10, r11, r12, r13
    KEY_ROUND r10, r11, r12, r13, r6, r7, r8, r9, r14, r15, r16, r17
    KEY_ROUND r14, r15, r16, r17, r10, r11, r12, r13, r2, r3, r4, r5
#else
    KEY_ROUND r6, r7, r8, r9, r14, r15, r16, r17
    KEY_ROUND r10, r11, r12, r13, r6, r7, r8, r9
    KEY_ROUND r14, r15, r16, r17, r10, r11, r12, r13
#endif
    dec r24
    breq 2f
    rjmp 1b
2:  .irp r, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6
    pop \r
    .endr
#if CRYPTO_KEYBYTES == 16
    .irp r, 5, 4, 3, 2
    pop \r
    .endr
#endif
    ldi r24, 0
    ldi r25, 0
    ret
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule

/* The first bits of z3, four in a byte, the first the lowest; of z2, three. */
    .section .progmem.data, "a", @progbits
    .type z, @object
#if CRYPTO_KEYBYTES == 16
z:  .byte 0xb, 0xd, 0x5, 0x3, 0x6, 0xa, 0x7, 0x0, 0x2, 0x1
#else
z:  .byte 0x5, 0x6, 0x3, 0x7, 0x0, 0x0, 0x3, 0x1, 0x1, 0x3, 0x4, 0x2, 0x0
#endif
    .size z, . - z
