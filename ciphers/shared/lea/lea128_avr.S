/*
 * LEA-128 (WISA 2013) in AVR assembly, four rounds in the loop. Rotations by
 * eight are other names of registers; after four rounds the names are the
 * first ones again. The context holds T0 to T3 of each round.
 */
#define ROUNDS 24
#define COUNT r26

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

/* r18 to r21: a word of the round key and x. */
.macro WITH_KEY at, x0, x1, x2, x3
    ldd r18, Z + 4 * \at
    ldd r19, Z + 4 * \at + 1
    ldd r20, Z + 4 * \at + 2
    ldd r21, Z + 4 * \at + 3
    eor r18, \x0
    eor r19, \x1
    eor r20, \x2
    eor r21, \x3
.endm

/* x and T1, which is in r22 to r25 */
.macro WITH_T1 x0, x1, x2, x3
    eor \x0, r22
    eor \x1, r23
    eor \x2, r24
    eor \x3, r25
.endm

.macro LOAD_T1
    ldd r22, Z + 4
    ldd r23, Z + 5
    ldd r24, Z + 6
    ldd r25, Z + 7
.endm

.macro PLUS x0, x1, x2, x3
    add \x0, r18
    adc \x1, r19
    adc \x2, r20
    adc \x3, r21
.endm

.macro MINUS x0, x1, x2, x3
    sub \x0, r18
    sbc \x1, r19
    sbc \x2, r20
    sbc \x3, r21
.endm

/* Behind it b is b3, b0, b1, b2 and c is c1, c2, c3, c0. */
.macro ROUND a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3
    LOAD_T1
    WITH_KEY 3, \c0, \c1, \c2, \c3
    WITH_T1 \d0, \d1, \d2, \d3
    PLUS \d0, \d1, \d2, \d3
    .rept 3
    RIGHT_1 \d0, \d1, \d2, \d3
    .endr
    WITH_KEY 2, \b0, \b1, \b2, \b3
    WITH_T1 \c0, \c1, \c2, \c3
    PLUS \c0, \c1, \c2, \c3
    .rept 3
    LEFT_1 \c0, \c1, \c2, \c3
    .endr
    WITH_KEY 0, \a0, \a1, \a2, \a3
    WITH_T1 \b0, \b1, \b2, \b3
    PLUS \b0, \b1, \b2, \b3
    LEFT_1 \b0, \b1, \b2, \b3
    adiw r30, 16
.endm

/* Behind it b is b1, b2, b3, b0 and c is c3, c0, c1, c2. */
.macro INVERSE_ROUND a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3
    sbiw r30, 16
    LOAD_T1
    WITH_KEY 0, \a0, \a1, \a2, \a3
    RIGHT_1 \b0, \b1, \b2, \b3
    MINUS \b1, \b2, \b3, \b0
    WITH_T1 \b1, \b2, \b3, \b0
    WITH_KEY 2, \b1, \b2, \b3, \b0
    .rept 3
    RIGHT_1 \c0, \c1, \c2, \c3
    .endr
    MINUS \c3, \c0, \c1, \c2
    WITH_T1 \c3, \c0, \c1, \c2
    WITH_KEY 3, \c3, \c0, \c1, \c2
    .rept 3
    LEFT_1 \d0, \d1, \d2, \d3
    .endr
    MINUS \d0, \d1, \d2, \d3
    WITH_T1 \d0, \d1, \d2, \d3
.endm

.macro SAVE
    .irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    push \r
    .endr
.endm

.macro RETURN
    .irp r, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    pop \r
    .endr
    ldi r24, 0
    ldi r25, 0
    ret
.endm

/* The state, or the key, is in r2 to r17. */
.macro LOAD
    .irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    ld \r, X+
    .endr
.endm

/* X is where they go to. */
.macro STORE
    .irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    st X+, \r
    .endr
.endm

/* The arguments are out in r25:r24, in in r23:r22 and ctx in r21:r20. */
.macro BEGIN
    SAVE
    push r24
    push r25
    movw r26, r22
    movw r30, r20
    LOAD
    ldi COUNT, ROUNDS / 4
.endm

.macro END
    pop r27
    pop r26
    STORE
    RETURN
.endm

    .global crypto_block_encrypt
    .type crypto_block_encrypt, @function
crypto_block_encrypt:
    BEGIN
1:
    ROUND r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17
    ROUND r9, r6, r7, r8, r11, r12, r13, r10, r14, r15, r16, r17, r2, r3, r4, r5
    ROUND r10, r11, r12, r13, r15, r16, r17, r14, r2, r3, r4, r5, r9, r6, r7, r8
    ROUND r14, r15, r16, r17, r3, r4, r5, r2, r9, r6, r7, r8, r10, r11, r12, r13
    dec COUNT
    breq 2f
    rjmp 1b
2:  END
    .size crypto_block_encrypt, . - crypto_block_encrypt

    .global crypto_block_decrypt
    .type crypto_block_decrypt, @function
crypto_block_decrypt:
    BEGIN
    subi r30, lo8(-16 * ROUNDS)
    sbci r31, hi8(-16 * ROUNDS)
1:
    INVERSE_ROUND r14, r15, r16, r17, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13
    INVERSE_ROUND r10, r11, r12, r13, r14, r15, r16, r17, r3, r4, r5, r2, r9, r6, r7, r8
    INVERSE_ROUND r9, r6, r7, r8, r10, r11, r12, r13, r15, r16, r17, r14, r2, r3, r4, r5
    INVERSE_ROUND r2, r3, r4, r5, r9, r6, r7, r8, r11, r12, r13, r10, r14, r15, r16, r17
    dec COUNT
    breq 2f
    rjmp 1b
2:  END
    .size crypto_block_decrypt, . - crypto_block_decrypt

/* t plus the constant, which is then rotated for the next word */
.macro ADD_DELTA t0, t1, t2, t3
    PLUS \t0, \t1, \t2, \t3
    LEFT_1 r18, r19, r20, r21
.endm

.macro KEEP t0, t1, t2, t3
    st X+, \t0
    st X+, \t1
    st X+, \t2
    st X+, \t3
.endm

/* Behind it c is c3, c0, c1, c2 and d likewise. */
.macro KEY_ROUND a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3
    lpm r18, Z+
    lpm r19, Z+
    lpm r20, Z+
    lpm r21, Z+
    ADD_DELTA \a0, \a1, \a2, \a3
    LEFT_1 \a0, \a1, \a2, \a3
    KEEP \a0, \a1, \a2, \a3
    ADD_DELTA \b0, \b1, \b2, \b3
    .rept 3
    LEFT_1 \b0, \b1, \b2, \b3
    .endr
    KEEP \b0, \b1, \b2, \b3
    ADD_DELTA \c0, \c1, \c2, \c3
    .rept 2
    RIGHT_1 \c0, \c1, \c2, \c3
    .endr
    KEEP \c3, \c0, \c1, \c2
    PLUS \d0, \d1, \d2, \d3
    .rept 3
    LEFT_1 \d0, \d1, \d2, \d3
    .endr
    KEEP \d3, \d0, \d1, \d2
.endm

    .global crypto_block_encrypt_schedule
    .type crypto_block_encrypt_schedule, @function
    .global crypto_block_decrypt_schedule
    .type crypto_block_decrypt_schedule, @function
crypto_block_encrypt_schedule:
crypto_block_decrypt_schedule:
    SAVE
    movw r26, r22
    LOAD
    movw r26, r24
    ldi r30, lo8(delta)
    ldi r31, hi8(delta)
    ldi r24, ROUNDS / 4
1:
    KEY_ROUND r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17
    KEY_ROUND r2, r3, r4, r5, r6, r7, r8, r9, r13, r10, r11, r12, r17, r14, r15, r16
    KEY_ROUND r2, r3, r4, r5, r6, r7, r8, r9, r12, r13, r10, r11, r16, r17, r14, r15
    KEY_ROUND r2, r3, r4, r5, r6, r7, r8, r9, r11, r12, r13, r10, r15, r16, r17, r14
    dec r24
    breq 2f
    rjmp 1b
2:  RETURN
    .size crypto_block_encrypt_schedule, . - crypto_block_encrypt_schedule

/* delta(i mod 4), rotated by i to the left, of each round i */
    .section .progmem.data, "a", @progbits
    .type delta, @object
delta:
    .long 0xc3efe9db, 0x88c4d604, 0xe789f229, 0xc6f98763
    .long 0x3efe9dbc, 0x8c4d6048, 0x789f229e, 0x6f98763c
    .long 0xefe9dbc3, 0xc4d60488, 0x89f229e7, 0xf98763c6
    .long 0xfe9dbc3e, 0x4d60488c, 0x9f229e78, 0x98763c6f
    .long 0xe9dbc3ef, 0xd60488c4, 0xf229e789, 0x8763c6f9
    .long 0x9dbc3efe, 0x60488c4d, 0x229e789f, 0x763c6f98
    .size delta, . - delta
