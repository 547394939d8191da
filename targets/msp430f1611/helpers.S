/* What clang calls and no library brings: arithmetic (names of TI's MSP430 Embedded Application Binary Interface,
 * SLAA534, helper functions) and the C library's string functions. GCC has its own, so this is not for it.
 *
 * Arguments come in r12 to r15, results go back there; r11 to r15 may change, others may not. Two operands of 64 bits:
 * divisions take the first in r8 to r11 and the second in r12 to r15; multiplication takes one in r12 to r15 and one on
 * the stack, as a C function does. Interrupts are never on, so the multiplier (SLAU049F, 11) is not shared. */
#ifdef __clang__

#define MPY &0x0130 /* unsigned multiplication begins with OP2 */
#define MAC &0x0134 /* the same, and adds to the result */
#define OP2 &0x0138
#define RESLO &0x013A
#define RESHI &0x013C
#define SUMEXT &0x013E /* carry of an addition */

/* Its own section, so that the linker keeps only what is called. */
.macro function name
    .section .text.\name, "ax", @progbits
    .globl \name
    .type \name, @function
    .p2align 1
\name:
.endm

.macro end name
    .size \name, . - \name
.endm

.macro negate2 low, high
    inv \low
    inv \high
    inc \low
    adc \high
.endm

.macro negate4 a, b, c, d
    inv \a
    inv \b
    inv \c
    inv \d
    inc \a
    adc \b
    adc \c
    adc \d
.endm

/* --- multiplication ------------------------------------------------------------------------------ */

/* r12 = r12 * r13 */
function __mspabi_mpyi_hw
    mov r12, MPY
    mov r13, OP2
    mov RESLO, r12
    ret
end __mspabi_mpyi_hw

/* r13:r12 = r13:r12 * r15:r14 */
function __mspabi_mpyl_hw
    mov r12, MPY
    mov r14, OP2
    mov r12, MAC
    mov RESLO, r12
    mov RESHI, RESLO
    mov r15, OP2
    mov r13, MAC
    mov r14, OP2
    mov RESLO, r13
    ret
end __mspabi_mpyl_hw

/* r15..r12 = r15..r12 * four words after the return address. Column by column; only the second one's carry is
 * of weight below 2^64. */
function __mspabi_mpyll_hw
    push r10
    push r9
    mov r12, MPY
    mov 6(r1), OP2
    mov RESLO, r11
    mov RESHI, RESLO
    clr RESHI
    mov r12, MAC
    mov 8(r1), OP2
    mov r13, MAC
    mov 6(r1), OP2
    mov SUMEXT, r9
    mov RESLO, r10
    mov RESHI, RESLO
    mov r9, RESHI
    mov r12, MAC
    mov 10(r1), OP2
    mov r13, MAC
    mov 8(r1), OP2
    mov r14, MAC
    mov 6(r1), OP2
    mov RESLO, r9
    mov RESHI, RESLO
    mov r12, MAC
    mov 12(r1), OP2
    mov r13, MAC
    mov 10(r1), OP2
    mov r14, MAC
    mov 8(r1), OP2
    mov r15, MAC
    mov 6(r1), OP2
    mov RESLO, r15
    mov r9, r14
    mov r10, r13
    mov r11, r12
    pop r9
    pop r10
    ret
end __mspabi_mpyll_hw

/* --- division: one bit of the quotient after another; by 0 the quotient has all bits set --------- */

/* r12 = r12 / r13, r14 = r12 % r13 */
function __mspabi_divu
    clr r14
    mov #16, r11
1:  rla r12
    rlc r14
    jc 2f /* 17 bits are more than any divisor */
    cmp r13, r14
    jlo 3f
2:  sub r13, r14
    inc r12
3:  dec r11
    jnz 1b
    ret
end __mspabi_divu

function __mspabi_remu
    call #__mspabi_divu
    mov r14, r12
    ret
end __mspabi_remu

/* Of the magnitudes; r15 is negative where the quotient is, the old dividend's sign is on the stack. */
function __mspabi_divi
    mov r12, r15
    xor r13, r15
    tst r12
    jge 1f
    inv r12
    inc r12
1:  tst r13
    jge 2f
    inv r13
    inc r13
2:  call #__mspabi_divu
    tst r15
    jge 3f
    inv r12
    inc r12
3:  ret
end __mspabi_divi

function __mspabi_remi
    push r12
    call #__mspabi_divi
    mov r14, r12
    pop r13
    tst r13
    jge 1f
    inv r12
    inc r12
1:  ret
end __mspabi_remi

/* r13:r12 = r13:r12 / r15:r14; sy_divide2 leaves the remainder in r9:r8, and both belong to the caller */
function sy_divide2
    clr r8
    clr r9
    mov #32, r11
1:  rla r12
    rlc r13
    rlc r8
    rlc r9
    jc 2f
    cmp r15, r9
    jlo 3f
    jne 2f
    cmp r14, r8
    jlo 3f
2:  sub r14, r8
    subc r15, r9
    inc r12
3:  dec r11
    jnz 1b
    ret
end sy_divide2

function __mspabi_divul
    push r8
    push r9
    call #sy_divide2
    pop r9
    pop r8
    ret
end __mspabi_divul

function __mspabi_remul
    push r8
    push r9
    call #sy_divide2
    mov r8, r12
    mov r9, r13
    pop r9
    pop r8
    ret
end __mspabi_remul

/* Divides the magnitudes. */
function sy_divide2_signed
    tst r13
    jge 1f
    negate2 r12, r13
1:  tst r15
    jge 2f
    negate2 r14, r15
2:  br #sy_divide2
end sy_divide2_signed

function __mspabi_divli
    push r8
    push r9
    push r13
    xor r15, 0(r1)
    call #sy_divide2_signed
    tst 0(r1)
    jge 1f
    negate2 r12, r13
1:  add #2, r1
    pop r9
    pop r8
    ret
end __mspabi_divli

function __mspabi_remli
    push r8
    push r9
    push r13
    call #sy_divide2_signed
    mov r8, r12
    mov r9, r13
    tst 0(r1)
    jge 1f
    negate2 r12, r13
1:  add #2, r1
    pop r9
    pop r8
    ret
end __mspabi_remli

/* r11..r8 = r11..r8 / r15..r12, r7..r4 = remainder; all of r4 to r10 belong to the caller */
function sy_divide4
    clr r4
    clr r5
    clr r6
    clr r7
    push #64
1:  rla r8
    rlc r9
    rlc r10
    rlc r11
    rlc r4
    rlc r5
    rlc r6
    rlc r7
    jc 2f
    cmp r15, r7
    jlo 3f
    jne 2f
    cmp r14, r6
    jlo 3f
    jne 2f
    cmp r13, r5
    jlo 3f
    jne 2f
    cmp r12, r4
    jlo 3f
2:  sub r12, r4
    subc r13, r5
    subc r14, r6
    subc r15, r7
    inc r8
3:  dec 0(r1)
    jnz 1b
    add #2, r1
    ret
end sy_divide4

function sy_divide4_signed
    tst r11
    jge 1f
    negate4 r8, r9, r10, r11
1:  tst r15
    jge 2f
    negate4 r12, r13, r14, r15
2:  br #sy_divide4
end sy_divide4_signed

.macro save
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
.endm

.macro restore
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
.endm

.macro result a, b, c, d
    mov \a, r12
    mov \b, r13
    mov \c, r14
    mov \d, r15
.endm

function __mspabi_divull
    save
    call #sy_divide4
    result r8, r9, r10, r11
    restore
end __mspabi_divull

function __mspabi_remull
    save
    call #sy_divide4
    result r4, r5, r6, r7
    restore
end __mspabi_remull

function __mspabi_divlli
    save
    push r11
    xor r15, 0(r1)
    call #sy_divide4_signed
    result r8, r9, r10, r11
    tst 0(r1)
    jge 1f
    negate4 r12, r13, r14, r15
1:  add #2, r1
    restore
end __mspabi_divlli

function __mspabi_remlli
    save
    push r11
    call #sy_divide4_signed
    result r4, r5, r6, r7
    tst 0(r1)
    jge 1f
    negate4 r12, r13, r14, r15
1:  add #2, r1
    restore
end __mspabi_remlli

/* --- shifts by a count that is known only when they run ------------------------------------------ */

/* Jumps over \count less r14 of the steps that follow, four bytes each. */
.macro skip count
    mov #\count, r15
    sub r14, r15
    rla r15
    rla r15
    add r15, r0
.endm

/* r13:r12 by r14; what C leaves undefined, 32 and more, shifts everything out. */
function __mspabi_slll
    mov.b r14, r14
    cmp #16, r14
    jlo 1f
    mov r12, r13
    clr r12
    sub #16, r14
    cmp #16, r14
    jhs 2f
1:  skip 15
    .rept 15
    rla r12
    rlc r13
    .endr
    ret
2:  clr r13
    ret
end __mspabi_slll

function __mspabi_srll
    mov.b r14, r14
    cmp #16, r14
    jlo 1f
    mov r13, r12
    clr r13
    sub #16, r14
    cmp #16, r14
    jhs 2f
1:  tst r14
    jeq 3f
    clrc /* after the first step bit 31 is clear, and an arithmetic shift keeps it so */
    rrc r13
    rrc r12
    skip 15
    .rept 14
    rra r13
    rrc r12
    .endr
    ret
2:  clr r12
3:  ret
end __mspabi_srll

function __mspabi_sral
    mov.b r14, r14
    cmp #16, r14
    jlo 1f
    mov r13, r12
    rla r13
    subc r13, r13
    inv r13 /* 0 or -1, as the sign says */
    sub #16, r14
    cmp #16, r14
    jhs 2f
1:  skip 15
    .rept 15
    rra r13
    rrc r12
    .endr
    ret
2:  mov r13, r12
    ret
end __mspabi_sral

/* r15..r12 by the word after the return address: clang before 15 calls these */
function __ashldi3
    mov.b 2(r1), r11
1:  cmp #16, r11
    jlo 3f
    mov r14, r15
    mov r13, r14
    mov r12, r13
    clr r12
    sub #16, r11
    jmp 1b
2:  rla r12
    rlc r13
    rlc r14
    rlc r15
3:  dec r11
    jge 2b
    ret
end __ashldi3

function __lshrdi3
    mov.b 2(r1), r11
1:  cmp #16, r11
    jlo 3f
    mov r13, r12
    mov r14, r13
    mov r15, r14
    clr r15
    sub #16, r11
    jmp 1b
2:  clrc
    rrc r15
    rrc r14
    rrc r13
    rrc r12
3:  dec r11
    jge 2b
    ret
end __lshrdi3

function __ashrdi3
    mov.b 2(r1), r11
1:  cmp #16, r11
    jlo 3f
    mov r13, r12
    mov r14, r13
    mov r15, r14
    rla r15
    subc r15, r15
    inv r15
    sub #16, r11
    jmp 1b
2:  rra r15
    rrc r14
    rrc r13
    rrc r12
3:  dec r11
    jge 2b
    ret
end __ashrdi3

/* --- setjmp.h ------------------------------------------------------------------------------------ */

/* Registers r4 to r10, the stack pointer after the return address, that address. */
function setjmp
    mov r4, 0(r12)
    mov r5, 2(r12)
    mov r6, 4(r12)
    mov r7, 6(r12)
    mov r8, 8(r12)
    mov r9, 10(r12)
    mov r10, 12(r12)
    pop r13
    mov r1, 14(r12)
    mov r13, 16(r12)
    clr r12
    br r13
end setjmp

function longjmp
    mov @r12+, r4
    mov @r12+, r5
    mov @r12+, r6
    mov @r12+, r7
    mov @r12+, r8
    mov @r12+, r9
    mov @r12+, r10
    mov @r12+, r1
    mov @r12, r14
    mov r13, r12
    tst r12
    jnz 1f
    inc r12
1:  br r14
end longjmp

/* --- string.h ------------------------------------------------------------------------------------ */

/* Word by word where both addresses are even. */
function memcpy
    mov r12, r15
    mov r12, r11
    bis r13, r11
    bit #1, r11
    jnz 3f
    mov r14, r11
    clrc
    rrc r11
    jz 2f
1:  .word 0x4DBF, 0 /* mov @r13+, 0(r15): not every assembler of LLVM knows it */
    incd r15
    dec r11
    jnz 1b
2:  and #1, r14
3:  tst r14
    jz 5f
4:  .word 0x4DFF, 0 /* mov.b @r13+, 0(r15) */
    inc r15
    dec r14
    jnz 4b
5:  ret
end memcpy

function memmove
    mov r12, r15
    sub r13, r15
    cmp r14, r15
    jlo 1f
    br #memcpy /* the end of the source is not written before it is read */
1:  mov r12, r15
    add r14, r15
    add r14, r13
    tst r14
    jz 3f
2:  dec r15
    dec r13
    mov.b 0(r13), 0(r15)
    dec r14
    jnz 2b
3:  ret
end memmove

function memset
    mov r12, r15
    mov.b r13, r13
    mov r13, r11
    swpb r11
    bis r11, r13
    bit #1, r15
    jz 1f
    tst r14
    jz 5f
    mov.b r13, 0(r15)
    inc r15
    dec r14
1:  mov r14, r11
    clrc
    rrc r11
    jz 3f
2:  mov r13, 0(r15)
    incd r15
    dec r11
    jnz 2b
3:  bit #1, r14
    jz 5f
    mov.b r13, 0(r15)
5:  ret
end memset

function memcmp
    mov r12, r15
    tst r14
    jz 2f
1:  mov.b @r15+, r12
    mov.b @r13+, r11
    sub r11, r12
    jnz 3f
    dec r14
    jnz 1b
2:  clr r12
3:  ret
end memcmp

function strlen
    mov r12, r13
1:  tst.b 0(r12)
    jz 2f
    inc r12
    jmp 1b
2:  sub r13, r12
    ret
end strlen
#endif
