/*
 * Ascon-p (SP 800-232, section 3) for AVRs with 32 registers and MOVW, in
 * assembly.
 *
 * The words are columns (columns.h).  S_0, S_1 and S_2 stay in registers over
 * all rounds.  S_3 and S_4 are in memory: the linear diffusion of these two
 * joins columns that are neighbours, so it can be done column by column.
 */

/* T_0 .. T_7 of S_0, S_1, S_2 */
    .set S0_0, 2
    .set S0_1, 3
    .set S0_2, 4
    .set S0_3, 5
    .set S0_4, 6
    .set S0_5, 7
    .set S0_6, 8
    .set S0_7, 9
    .set S1_0, 10
    .set S1_1, 11
    .set S1_2, 12
    .set S1_3, 13
    .set S1_4, 14
    .set S1_5, 15
    .set S1_6, 24
    .set S1_7, 25
    .set S2_0, 16
    .set S2_1, 17
    .set S2_2, 18
    .set S2_3, 19
    .set S2_4, 20
    .set S2_5, 21
    .set S2_6, 22
    .set S2_7, 23

#define S3 24           /* places in memory, from Y on */
#define S4 32

/* Free registers.  ZERO is 0, but in the S-box it is one more of them. */
#define A r26
#define B r0
#define C r30
#define D r31
#define CD r30          /* C and D as a pair */
#define ZERO r1
#define CONSTANT r27

/* t rotated to the left */
.macro LEFT t
    lsl \t
    adc \t, ZERO
.endm

/* t rotated to the right */
.macro RIGHT t
    bst \t, 0
    lsr \t
    bld \t, 7
.endm

/*
 * Constant (3.2) and S-box (3.3) on column k, x0 and x2 complemented as in
 * ASCON_SBOX_COLUMN.  ~x3 & x4 is x3 ^ (x3 | x4), and the S-box adds this and
 * x3 to get its new x3.  It is in B at the end, not yet in memory.
 */
.macro SUBSTITUTE k
    ldd C, Y + S3 + \k
    ldd D, Y + S4 + \k
    sbrc CONSTANT, \k
    subi S2_\k, 0x80
    eor S0_\k, D
    eor D, C
    eor S2_\k, S1_\k
    com S0_\k
    com S2_\k
    mov A, S0_\k
    and A, S1_\k            /* ~x0 & x1 */
    mov B, D
    or B, S0_\k             /* complement of ~x4 & x0 */
    mov ZERO, C
    or ZERO, D              /* x3 ^ (~x3 & x4) */
    eor D, A
    mov A, S1_\k
    or A, S2_\k
    eor S0_\k, A            /* x0 ^ (~x1 & x2) */
    mov A, S2_\k
    and A, C
    eor S1_\k, A            /* x1 ^ (~x2 & x3) */
    eor S2_\k, ZERO
    eor B, S2_\k            /* x3 ^ (~x4 & x0) ^ x2 ^ (~x3 & x4) */
    eor S2_\k, C            /* complement of x2 ^ (~x3 & x4) */
    eor S1_\k, S0_\k
    eor S0_\k, D
    std Y + S4 + \k, D
.endm

/*
 * Linear diffusion (3.4).  Column m of the old word, in a register that the
 * rotations may change, is added to the columns i and j of the new word which
 * need it rotated; what each one adds to its own place is there already.  So a
 * column is copied before the first one is added to its place.
 */

/* S_0, by 19: to m - 3, and by 28: to m - 4 */
.macro S0_FROM_0_TO_2 t, i, j
    swap \t
    eor S0_\j, \t           /* 4 */
    RIGHT \t
    eor S0_\i, \t           /* 3 */
.endm
.macro S0_FROM_4_TO_7 t, i, j
    LEFT \t
    LEFT \t
    eor S0_\i, \t           /* 2 */
    LEFT \t
    eor S0_\j, \t           /* 3 */
.endm
.macro DIFFUSE_S0
    mov A, S0_0
    movw CD, S0_4
    S0_FROM_0_TO_2 A, 5, 4
    mov A, S0_1
    S0_FROM_4_TO_7 C, 1, 0  /* 4 */
    mov C, S0_6
    S0_FROM_0_TO_2 A, 6, 5  /* 1 */
    mov A, S0_2
    S0_FROM_4_TO_7 D, 2, 1  /* 5 */
    mov D, S0_7
    S0_FROM_0_TO_2 A, 7, 6  /* 2 */
    mov A, S0_3
    S0_FROM_4_TO_7 C, 3, 2  /* 6 */
    mov C, A                /* 3 */
    swap C
    eor S0_7, C
    LEFT A
    LEFT A
    eor S0_0, A
    S0_FROM_4_TO_7 D, 4, 3  /* 7 */
.endm

/* S_1, by 61: to m - 5, and by 39: to m - 7 */
.macro S1_FROM_0_TO_4 t, i, j
    eor S1_\i, \t           /* 0 */
    swap \t
    LEFT \t
    eor S1_\j, \t           /* 5 */
.endm
.macro S1_FROM_5_TO_6 t, i, j
    mov A, \t
    RIGHT A
    eor S1_\i, A            /* 7 */
    swap \t
    LEFT \t
    eor S1_\j, \t           /* 5 */
.endm
.macro DIFFUSE_S1
    mov A, S1_0
    mov B, S1_3
    mov C, S1_1
    S1_FROM_0_TO_4 A, 3, 1
    mov A, S1_4
    mov D, S1_2
    S1_FROM_0_TO_4 C, 4, 2  /* 1 */
    mov C, S1_5
    S1_FROM_0_TO_4 D, 5, 3  /* 2 */
    mov D, S1_6
    S1_FROM_0_TO_4 B, 6, 4  /* 3 */
    mov B, S1_7
    S1_FROM_0_TO_4 A, 7, 5  /* 4 */
    S1_FROM_5_TO_6 C, 0, 6  /* 5 */
    S1_FROM_5_TO_6 D, 1, 7  /* 6 */
    swap B                  /* 7 */
    eor S1_0, B
    swap B
    RIGHT B
    eor S1_2, B
.endm

/* S_2, by 1: to m - 1, and by 6: to m - 6 */
.macro S2_FROM_1_TO_5 t, i, j
    eor S2_\i, \t           /* 0 */
    LEFT \t
    eor S2_\j, \t           /* 1 */
.endm
.macro DIFFUSE_S2
    mov A, S2_6
    mov B, S2_1
    eor S2_6, S2_7
    eor S2_1, S2_7
    mov C, S2_5
    mov D, S2_0
    eor S2_5, A             /* 6 */
    eor S2_0, A
    mov A, S2_4
    S2_FROM_1_TO_5 C, 4, 7  /* 5 */
    mov C, S2_3
    S2_FROM_1_TO_5 A, 3, 6  /* 4 */
    mov A, S2_2
    S2_FROM_1_TO_5 C, 2, 5  /* 3 */
    S2_FROM_1_TO_5 A, 1, 4  /* 2 */
    S2_FROM_1_TO_5 B, 0, 3  /* 1 */
    LEFT D                  /* 0 */
    eor S2_7, D
    eor S2_2, D
.endm

/*
 * S_3, by 10: to m - 2, and by 17: to m - 1.  Columns m - 2, m - 1 and m of
 * the new word are in u, v and w; the first one is complete then.
 */
.macro S3_FROM_2_TO_7 m, u, v, w
    ldd A, Y + S3 + \m
    mov \w, A
    LEFT A
    eor \u, A               /* 1 */
    std Y + S3 + \m - 2, \u
    LEFT A
    eor \v, A               /* 2 */
.endm
.macro DIFFUSE_S3
    mov A, B                /* 0, from the S-box */
    LEFT A
    LEFT A
    push A                  /* for 6 */
    LEFT A                  /* for 7 */
    ldd C, Y + S3 + 1
    mov D, C
    LEFT C
    LEFT C
    eor B, C
    eor A, C
    push A                  /* for 7 */
    S3_FROM_2_TO_7 2, B, D, C
    S3_FROM_2_TO_7 3, D, C, B
    S3_FROM_2_TO_7 4, C, B, D
    S3_FROM_2_TO_7 5, B, D, C
    S3_FROM_2_TO_7 6, D, C, B
    S3_FROM_2_TO_7 7, C, B, D
    pop A
    eor D, A
    std Y + S3 + 7, D
    pop A
    eor B, A
    std Y + S3 + 6, B
.endm

/*
 * S_4, by 7: to m + 1, and by 41: to m - 1.  Columns m - 1, m and m + 1 of the
 * new word are in u, v and w; the first one is complete then.
 */
.macro S4_FROM_2_TO_6 m, u, v, w
    ldd A, Y + S4 + \m
    eor \v, A
    LEFT A
    mov \w, A               /* 1 */
    swap A
    eor \u, A               /* 5 */
    std Y + S4 + \m - 1, \u
.endm
.macro DIFFUSE_S4
    ldd A, Y + S4
    mov B, A
    LEFT A
    mov C, A
    swap A
    LEFT A
    push A                  /* for 7 */
    ldd A, Y + S4 + 1
    eor C, A
    LEFT A
    mov D, A
    swap A
    eor B, A
    push B                  /* 0, but for what 7 adds */
    S4_FROM_2_TO_6 2, C, D, B
    S4_FROM_2_TO_6 3, D, B, C
    S4_FROM_2_TO_6 4, B, C, D
    S4_FROM_2_TO_6 5, C, D, B
    S4_FROM_2_TO_6 6, D, B, C
    ldd A, Y + S4 + 7
    eor C, A
    pop D
    eor D, A
    std Y + S4, D
    swap A
    LEFT A
    eor B, A
    std Y + S4 + 6, B
    pop D
    eor C, D
    std Y + S4 + 7, C
.endm

    .text

/* void ascon_permute(ascon_state *s, uint8_t rounds) */
    .global ascon_permute
    .type ascon_permute, @function
ascon_permute:
    .irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
    push \r
    .endr
    movw r28, r24
    mov CONSTANT, r22               /* 0x3c + 0x0f * rounds */
    swap CONSTANT
    sub CONSTANT, r22
    subi CONSTANT, -0x3c
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    ldd S0_\k, Y + \k
    ldd S1_\k, Y + 8 + \k
    ldd S2_\k, Y + 16 + \k
    .endr

1:
    .irp k, 1, 2, 3, 4, 5, 6, 7
    SUBSTITUTE \k
    std Y + S3 + \k, B
    .endr
    SUBSTITUTE 0
    clr ZERO

    DIFFUSE_S3                      /* first: it takes column 0 from B */
    DIFFUSE_S4
    DIFFUSE_S0
    DIFFUSE_S1
    DIFFUSE_S2

    subi CONSTANT, 0x0f
    cpi CONSTANT, 0x3c
    breq 2f
    rjmp 1b
2:
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    std Y + \k, S0_\k
    std Y + 8 + \k, S1_\k
    std Y + 16 + \k, S2_\k
    .endr
    .irp r, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    pop \r
    .endr
    ret
    .size ascon_permute, . - ascon_permute
