/* For FELICS-AE packages with assembly: `rodata NAME` and `function NAME` each begin a section of
   their own with a global label, as the compiler does with -fdata-sections and -ffunction-sections. */

    .macro rodata name
    .section .rodata.\name, "a", @progbits
    .global \name
    .type \name, @object
\name:
    .endm

    .macro function name
    .section .text.\name, "ax", @progbits
    .balign 2
    .global \name
    .type \name, @function
\name:
    .endm
