/* First instructions of the CH32V003, at the address where it starts. No interrupt is used. */
    .section .start, "ax", @progbits
    .global sy_reset
    .type sy_reset, @function
sy_reset:
    .option push
    .option norelax
    lui gp, %hi(__global_pointer$)
    addi gp, gp, %lo(__global_pointer$)
    lui tp, %hi(sy_thread)
    addi tp, tp, %lo(sy_thread)
    lui sp, %hi(sy_stack_top)
    addi sp, sp, %lo(sy_stack_top)
    .option pop
    tail sy_start
    .size sy_reset, . - sy_reset
