/*
 * SPECK64/128 and SPECK64/96 (ePrint 2013/404) in AVR assembly. Rotations by
 * eight are other names of registers, so there are four rounds in the loop; it
 * is entered behind the first, since there are 27, or behind the second.
 */
#include "api.h"

#if CRYPTO_KEYBYTES == 16
#define ROUNDS 27
#else
#define ROUNDS 26
#endif

    .set y0, 22
    .set y1, 23
    .set y2, 24
    .set y3, 25
    .set count, 26

    .text

/* y by three bits to the left; r1 is 0 */
.macro LEFT_3 a, b, c, d
    .rept 3
    lsl \a
    rol \b
    rol \c
    rol \d
    adc \a, r1
    .endr
.endm

/* The bytes of x, the lowest first; behind it they are x1, x2, x3, x0. */
.macro ROUND x0, x1, x2, x3
    add \x1, y0
    adc \x2, y1
    adc \x3, y2
    adc \x0, y3
    ld r0, Z+
    eor \x1, r0
    ld r0, Z+
    eor \x2, r0
    ld r0, Z+
    eor \x3, r0
    ld r0, Z+
    eor \x0, r0
    LEFT_3 y0, y1, y2, y3
    eor y0, \x1
    eor y1, \x2
    eor y2, \x3
    eor y3, \x0
.endm

/* Behind it they are x3, x0, x1, x2. */
.macro INVERSE_ROUND x0, x1, x2, x3
    eor y0, \x0
    eor y1, \x1
    eor y2, \x2
    eor y3, \x3
    .rept 3
    bst y0, 0
    ror y3
    ror y2
    ror y1
    ror y0
    bld y3, 7
    .endr
    ld r0, -Z
    eor \x3, r0
    ld r0, -Z
    eor \x2, r0
    ld r0, -Z
    eor \x1, r0
    ld r0, -Z
    eor \x0, r0
    sub \x0, y0
    sbc \x1, y1
    sbc \x2, y2
    sbc \x3, y3
.endm

/* The arguments are out in r25:r24, in in r23:r22 and ctx in r21:r20. */
.macro LOAD a, b, c, d
    push r24
    push r25
    movw r26, r22
    movw r30, r20
    ld \d, X+
    ld \c, X+
    ld \b, X+
    ld \a, X+
    ld y3, X+
    ld y2, X+
    ld y1, X+
    ld y0, X+
    ldi count, (ROUNDS + 3) / 4
.endm

.macro STORE a, b, c, d
    pop r27
    pop r26
    st X+, \d
    st X+, \c
    st X+, \b
    st X+, \a
    st X+, y3
    st X+, y2
    st X+, y1
    st X+, y0
    ldi r24, 0
    ldi r25, 0
    ret
.endm

    .global crypto_block_encrypt
    .type crypto_block_encrypt, @function
crypto_block_encrypt:
#if ROUNDS == 27
    LOAD r19, r20, r21, r18
    rjmp 2f
#else
    LOAD r20, r21, r18, r19
    rjmp 3f
#endif
1:  ROUND r18, r19, r20, r21
2:  ROUND r19, r20, r21, r18
3:  ROUND r20, r21, r18, r19
    ROUND r21, r18, r19, r20
    dec count
    breq 4f
    rjmp 1b
4:  STORE r18, r19, r20, r21
    .size crypto_block_encrypt, . - crypto_block_encrypt

    .global crypto_block_decrypt
    .type crypto_block_decrypt, @function
crypto_block_decrypt:
#if ROUNDS == 27
    LOAD r19, r20, r21, r18
#else
    LOAD r18, r19, r20, r21
#endif
    subi r30, lo8(-4 * ROUNDS)
    sbci r31, hi8(-4 * ROUNDS)
#if ROUNDS == 27
    rjmp 2f
#else
    rjmp 3f
#endif
1:  INVERSE_ROUND r20, r21, r18, r19
2:  INVERSE_ROUND r19, r20, r21, r18
3:  INVERSE_ROUND r18, r19, r20, r21
    INVERSE_ROUND r21, r18, r19, r20
    dec count
    breq 4f
    rjmp 1b
4:  STORE r20, r21, r18, r19
    .size crypto_block_decrypt, . - crypto_block_decrypt

/* k in r18 to r21; l0, l1 and, of a long key, l2 in more; i in count. */
    .set k0, 18
    .set k1, 19
    .set k2, 20
    .set k3, 21

.macro KEY_ROUND l0, l1, l2, l3
    st Z+, k0
    st Z+, k1
    st Z+, k2
    st Z+, k3
    cpi count, ROUNDS - 1
    brne 3f
    rjmp 2f
3:
    add \l1, k0
    adc \l2, k1
    adc \l3, k2
    adc \l0, k3
    eor \l1, count
    LEFT_3 k0, k1, k2, k3
    eor k0, \l1
    eor k1, \l2
    eor k2, \l3
    eor k3, \l0
    mov r0, \l0
    mov \l0, \l1
    mov \l1, \l2
    mov \l2, \l3
    mov \l3, r0
    inc count
.endm

    .global crypto_block_encrypt_schedule
    .type crypto_block_encrypt_schedule, @function
    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, @function
crypto_block_encrypt_schedule:
crypto_block_decrypt_schedule:
    .irp r, 10, 11, 12, 13, 14, 15, 16, 17
    push \r
    .endr
    movw r26, r22
    movw r30, r24
#if CRYPTO_KEYBYTES == 16
    .irp r, 17, 16, 15, 14
    ld \r, X+
    .endr
#endif
    .irp r, 13, 12, 11, 10, 25, 24, 23, 22, 21, 20, 19, 18
    ld \r, X+
    .endr
    ldi count, 0
1:  KEY_ROUND r22, r23, r24, r25
    KEY_ROUND r10, r11, r12, r13
#if CRYPTO_KEYBYTES == 16
    KEY_ROUND r14, r15, r16, r17
#endif
    rjmp 1b
2:  .irp r, 17, 16, 15, 14, 13, 12, 11, 10
    pop \r
    .endr
    ldi r24, 0
    ldi r25, 0
    ret
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule
