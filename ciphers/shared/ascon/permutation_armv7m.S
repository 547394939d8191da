/*
 * Ascon-p (SP 800-232, section 3) for ARMv7-M, in assembly.
 *
 * Every word of the state is a pair of 32-bit registers.  The lower halves are
 * in r0 .. r4, where exclusive-or takes 16 bits of code: flash that is slower
 * than the core delivers no more.  The barrel shifter joins the two parts of
 * each rotation with an exclusive-or.
 */
    .syntax unified
    .thumb
    .text

#define H0 r8
#define H1 r9
#define H2 r10
#define H3 r11
#define H4 r12
#define C lr

/* S-box (3.3) on one half of each word; t, t0, t4 are free registers. */
.macro SBOX x0, x1, x2, x3, x4, t, t0, t4
    eors \x0, \x4
    eors \x4, \x3
    eors \x2, \x1
    bic \t0, \x1, \x0
    bic \t4, \x0, \x4
    bic \t, \x2, \x1
    eors \x0, \t
    bic \t, \x3, \x2
    eors \x1, \t
    bic \t, \x4, \x3
    eors \x2, \t
    eors \x3, \t4
    eors \x4, \t0
    eors \x1, \x0
    eors \x0, \x4
    eors \x3, \x2
    mvns \x2, \x2
.endm

/* d = s ^ one half of (h || l) >>> n, the half whose own bits are in u. */
.macro ADD_ROTATED d, s, u, v, n
.if \n < 32
    eor \d, \s, \u, lsr #\n
    eor \d, \d, \v, lsl #(32 - \n)
.else
    eor \d, \s, \v, lsr #(\n - 32)
    eor \d, \d, \u, lsl #(64 - \n)
.endif
.endm

/* Linear diffusion (3.4) of h || l; the new lower half is in another register
 * than the old one, which is free then.  u is a free register. */
.macro DIFFUSE new, l, h, u, a, b
    ADD_ROTATED \new, \l, \l, \h, \a
    ADD_ROTATED \new, \new, \l, \h, \b
    ADD_ROTATED \u, \h, \h, \l, \a
.if \b < 32
    eor \u, \u, \h, lsr #\b
    eor \h, \u, \l, lsl #(32 - \b)
.else
    eor \u, \u, \l, lsr #(\b - 32)
    eor \h, \u, \h, lsl #(64 - \b)
.endif
.endm

/* void ascon_permute(ascon_state *s, uint8_t rounds); rounds is even */
    .global ascon_permute
    .type ascon_permute, %function
    .p2align 3
ascon_permute:
    push {r0, r4-r11, lr}
    rsb C, r1, r1, lsl #4           /* first constant: 0x3c + 0x0f * rounds */
    add C, C, #0x3c
    ldrd r4, H4, [r0, #32]
    ldrd r3, H3, [r0, #24]
    ldrd r2, H2, [r0, #16]
    ldrd r1, H1, [r0, #8]
    ldrd r0, H0, [r0]
    .p2align 3
1:
    /* lower halves in r0 .. r4, r5 is free; the words move up by one place */
    eor r2, r2, C
    SBOX r0, r1, r2, r3, r4, r5, r6, r7
    SBOX H0, H1, H2, H3, H4, r5, r6, r7
    DIFFUSE r5, r0, H0, r6, 19, 28
    DIFFUSE r0, r1, H1, r6, 61, 39
    DIFFUSE r1, r2, H2, r6, 1, 6
    DIFFUSE r2, r3, H3, r6, 10, 17
    DIFFUSE r3, r4, H4, r6, 7, 41
    sub C, C, #0x0f

    /* lower halves in r5, r0 .. r3, r4 is free; and down again */
    eor r1, r1, C
    SBOX r5, r0, r1, r2, r3, r4, r6, r7
    SBOX H0, H1, H2, H3, H4, r4, r6, r7
    DIFFUSE r4, r3, H4, r6, 7, 41
    DIFFUSE r3, r2, H3, r6, 10, 17
    DIFFUSE r2, r1, H2, r6, 1, 6
    DIFFUSE r1, r0, H1, r6, 61, 39
    DIFFUSE r0, r5, H0, r6, 19, 28
    sub C, C, #0x0f
    cmp C, #0x3c
    bne 1b

    pop {r5}
    strd r0, H0, [r5]
    strd r1, H1, [r5, #8]
    strd r2, H2, [r5, #16]
    strd r3, H3, [r5, #24]
    strd r4, H4, [r5, #32]
    pop {r4-r11, pc}
    .size ascon_permute, . - ascon_permute
