/* First instructions of the K210: both cores start here, the second one stays. */
    .section .start, "ax", @progbits
    .global sy_reset
    .type sy_reset, @function
sy_reset:
    .option push
    .option arch, +zicsr
    csrr t0, mhartid
    .option pop
    bnez t0, 1f
    .option push
    .option norelax
    lla gp, __global_pointer$
    .option pop
    lla tp, sy_thread
    lla sp, sy_stack_top
    tail sy_start
1:  wfi
    j 1b
    .size sy_reset, . - sy_reset
