/* This machine: the trigger is a time stamp, taken when everything before it is done. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#if !defined(__x86_64__)
#error "the host target knows the time-stamp counter of x86-64 only"
#endif

#define SY_CLOCK_HZ 0UL
#define SY_STACK_RESERVE 4096
#define SY_PAINT_GAP 80 /* frame of sy_run, up to the call */
#define SY_REPEAT 18 /* 3 to warm up, 15 to take the median of; device/process.py knows */

extern uint64_t sy_host_started;
void sy_host_pulse(uint64_t ticks);

static inline uint64_t sy_host_ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

#define SY_TRIGGER_HIGH() (sy_host_started = sy_host_ticks())
#define SY_TRIGGER_LOW() sy_host_pulse(sy_host_ticks() - sy_host_started)
#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %%rsp, %0" : "=r"(sp_)); \
        sp_; \
    })

#endif
