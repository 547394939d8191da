/*
 * Columns (columns.h) from and to bytes, the transposition of an 8x8 bit
 * matrix, in AVR assembly.
 */
#include "parameters.h"

/* Rows of the matrix; byte j of a byte string is row ASCON_ROW(j). */
    .set ROW0, 18
    .set ROW1, 19
    .set ROW2, 20
    .set ROW3, 21
    .set ROW4, 22
    .set ROW5, 23
    .set ROW6, 24
    .set ROW7, 25

#if ASCON_BIG_ENDIAN
#define BYTES 0, 1, 2, 3, 4, 5, 6, 7
#else
#define BYTES 7, 6, 5, 4, 3, 2, 1, 0
#endif

#define T r30

/* SWAP_BLOCKS of columns.h, n = 4, 2, 1 */
.macro SWAP_4 a, b
    swap ROW\b
    mov T, ROW\a
    eor T, ROW\b
    andi T, 0xf0
    eor ROW\a, T
    eor ROW\b, T
    swap ROW\b
.endm
.macro SWAP_2 a, b
    mov T, ROW\b
    lsl T
    lsl T
    eor T, ROW\a
    andi T, 0xcc
    eor ROW\a, T
    lsr T
    lsr T
    eor ROW\b, T
.endm
.macro SWAP_1 a, b
    mov T, ROW\b
    lsl T
    eor T, ROW\a
    andi T, 0xaa
    eor ROW\a, T
    lsr T
    eor ROW\b, T
.endm

    .text

    .type transpose, @function
transpose:
    SWAP_4 0, 4
    SWAP_4 1, 5
    SWAP_4 2, 6
    SWAP_4 3, 7
    SWAP_2 0, 2
    SWAP_2 1, 3
    SWAP_2 4, 6
    SWAP_2 5, 7
    SWAP_1 0, 1
    SWAP_1 2, 3
    SWAP_1 4, 5
    SWAP_1 6, 7
    ret
    .size transpose, . - transpose

/* void add_row(uint8_t *x, const unsigned char *p) */
    .global add_row
    .type add_row, @function
add_row:
    movw r26, r24
    movw r30, r22
    .irp k, BYTES
    ld ROW\k, Z+
    .endr
    rcall transpose
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    ld r0, X
    eor r0, ROW\k
    st X+, r0
    .endr
    ret
    .size add_row, . - add_row

/* void extract_row(const uint8_t *x, unsigned char *p) */
    .global extract_row
    .type extract_row, @function
extract_row:
    movw r30, r24
    movw r26, r22
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    ldd ROW\k, Z + \k
    .endr
    rcall transpose
    .irp k, BYTES
    st X+, ROW\k
    .endr
    ret
    .size extract_row, . - extract_row
