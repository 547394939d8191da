/* First instructions of the GD32VF103. After reset the flash is at address 0 as well; go on where it was
 * linked (user manual, 1.4 "Boot configuration"). */
    .section .start, "ax", @progbits
    .global sy_reset
    .type sy_reset, @function
sy_reset:
    .option push
    .option norelax
    lui t0, %hi(1f)
    jalr x0, %lo(1f)(t0)
1:  lui gp, %hi(__global_pointer$)
    addi gp, gp, %lo(__global_pointer$)
    lui tp, %hi(sy_thread)
    addi tp, tp, %lo(sy_thread)
    lui sp, %hi(sy_stack_top)
    addi sp, sp, %lo(sy_stack_top)
    .option pop
    tail sy_start
    .size sy_reset, . - sy_reset
