/* A Linux process: the trigger takes a sample of the counters, when everything before it is done.
 *
 * Nothing here uses the stack, which is painted around the call: the system call is made in place, and
 * samples go into an array that sy_getc empties. */
#ifndef STEELYARD_TARGET_H
#define STEELYARD_TARGET_H

#include <stdint.h>

#define SY_CLOCK_HZ 0UL
#define SY_STACK_RESERVE 4096
#define SY_REPEAT 18 /* 3 to warm up, 15 to take the median of, each after one with another key; device/process.py knows */

/* One edge: the timer, and what the kernel writes when a group of counters is read. */
struct sy_edge {
    uint64_t ticks, counters, value[2];
};

extern struct sy_edge *sy_host_next;
extern int sy_host_counters; /* file of the kernel's counters; -1 where it has none for us */
extern int sy_host_timed;    /* whether the timer is read */
void sy_host_lost(void) __attribute__((noreturn, cold));

#define SY_PAINT_GAP 80 /* frame of the fill itself */

#if defined(__x86_64__)

static inline __attribute__((always_inline)) uint64_t sy_host_ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

static inline __attribute__((always_inline)) long sy_host_read(int file, void *to, unsigned long size)
{
    long n = 0; /* the number of read, then its result */
    __asm__ volatile("syscall" : "+a"(n) : "D"((long)file), "S"(to), "d"(size) : "rcx", "r11", "memory");
    return n;
}

#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %%rsp, %0" : "=r"(sp_)); \
        sp_; \
    })

#elif defined(__aarch64__)

static inline __attribute__((always_inline)) uint64_t sy_host_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline __attribute__((always_inline)) long sy_host_read(int file, void *to, unsigned long size)
{
    register long number __asm__("x8") = 63;
    register long first __asm__("x0") = file; /* then the result */
    register void *second __asm__("x1") = to;
    register unsigned long third __asm__("x2") = size;
    __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
    return first;
}

#define SY_STACK_POINTER() \
    ({ \
        uint8_t *sp_; \
        __asm__ volatile("mov %0, sp" : "=r"(sp_)); \
        sp_; \
    })

#else
#error "processes are measured on x86-64 and aarch64 only"
#endif

static inline __attribute__((always_inline)) void sy_host_count(struct sy_edge *edge)
{
    if (sy_host_counters >= 0 && sy_host_read(sy_host_counters, &edge->counters, 24) <= 0)
        sy_host_lost();
}

static inline __attribute__((always_inline)) void sy_host_rise(void)
{
    struct sy_edge *edge = sy_host_next;
    sy_host_count(edge);
    if (sy_host_timed)
        edge->ticks = sy_host_ticks();
}

static inline __attribute__((always_inline)) void sy_host_fall(void)
{
    struct sy_edge *edge = sy_host_next + 1;
    if (sy_host_timed)
        edge->ticks = sy_host_ticks();
    sy_host_count(edge);
    sy_host_next = edge + 1;
}

#define SY_TRIGGER_HIGH() sy_host_rise()
#define SY_TRIGGER_LOW() sy_host_fall()

#endif
