/* A Linux process as a device: standard input and output are the serial line, standard error carries what
 * a board shows on its pins, as records of 24 bytes: a word that ends in a letter, and two values.
 *
 *   C  once: which counter is read, whether the processor is an emulator's, the core; the timer's frequency
 *   P  each call, those between the measured ones too: the counter's difference; the instructions, or ~0 where nobody counted them
 *   I  the program waits for more: bytes taken in so far
 *   S  a signal ends the program: its number
 *
 * The kernel's counters (perf_event_open) are taken where it lets us: cycles and instructions of this
 * program outside of the kernel. Otherwise the time-stamp counter of an x86-64 processor, or, on aarch64,
 * instructions alone, or the generic timer, which counts time and not cycles.
 *
 * main runs on a stack of the size of a microcontroller's RAM. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "harness.h"

enum { ARENA = 196608, BUFFER = 4096, EDGES = 2048, ROOM = 4 * SY_REPEAT };
enum { CYCLES = 1, TIME_STAMP = 2, INSTRUCTIONS = 3, TIMER = 4 }; /* device/process.py knows */
enum { LOST = 6 };

#define RECORD 0x53595245434F5200u /* "SYRECOR", then the letter */

/* common: after the C library's variables, which its code reaches within 1 MiB only (targets/raspberry-pi) */
uint8_t sy_free_start[ARENA] __attribute__((aligned(64), common));
static struct sy_edge edges[EDGES];
struct sy_edge *sy_host_next = edges;
int sy_host_counters = -1, sy_host_timed;

static uint8_t input[BUFFER], output[BUFFER], signal_stack[16384];
static size_t input_at, input_end, output_end;
static uint64_t taken;
static int counter;

static void put(int file, const void *data, size_t size)
{
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t n = write(file, at, size);
        if (n <= 0)
            _exit(3);
        at += n;
        size -= (size_t)n;
    }
}

static void record(char kind, uint64_t first, uint64_t second)
{
    uint64_t words[3] = {RECORD | (uint64_t)kind, first, second};
    put(2, words, sizeof words);
}

void sy_host_lost(void)
{
    _exit(LOST);
}

/* Tells of the calls since the last time, in one piece. */
static void tell(void)
{
    static uint64_t words[EDGES / 2][3];
    const struct sy_edge *rise = edges;
    size_t n = 0;
    for (; rise < sy_host_next; rise += 2, n++) {
        const struct sy_edge *fall = rise + 1;
        uint64_t first = fall->value[0] - rise->value[0], second = fall->value[1] - rise->value[1];
        words[n][0] = RECORD | 'P';
        words[n][1] = sy_host_timed ? fall->ticks - rise->ticks : first;
        words[n][2] = sy_host_counters < 0 ? ~(uint64_t)0
                      : counter != CYCLES  ? first
                      : fall->counters > 1 ? second
                                           : ~(uint64_t)0;
    }
    put(2, words, n * sizeof words[0]);
    sy_host_next = edges;
}

uint8_t sy_getc(void)
{
    if (sy_host_next > edges + (EDGES - ROOM))
        tell();
    if (input_at == input_end) {
        ssize_t n;
        put(1, output, output_end);
        output_end = 0;
        tell();
        record('I', taken, 0);
        n = read(0, input, sizeof input);
        if (n <= 0)
            _exit(0);
        input_at = 0;
        input_end = (size_t)n;
        taken += (uint64_t)n;
    }
    return input[input_at++];
}

void sy_putc(uint8_t byte)
{
    if (output_end == sizeof output) {
        put(1, output, output_end);
        output_end = 0;
    }
    output[output_end++] = byte;
}

/* Stays on the last core it may run on: moving between cores costs more than what is measured. */
static int stay(void)
{
    cpu_set_t set;
    int cpu = CPU_SETSIZE - 1;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    while (cpu > 0 && !CPU_ISSET(cpu, &set))
        cpu--;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
    return cpu;
}

static int open_counter(uint64_t what, int group)
{
    struct perf_event_attr attr = {0};
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof attr;
    attr.config = what;
    attr.read_format = PERF_FORMAT_GROUP;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.pinned = group < 0; /* never shared with other counters in turns */
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, 0UL);
}

/* Whether a counter that could be opened also counts. */
static int counts(int file)
{
    struct sy_edge a, b;
    volatile int i;
    if (read(file, &a.counters, 24) <= 0)
        return 0;
    for (i = 0; i < 1000; i++)
        ;
    return read(file, &b.counters, 24) > 0 && b.value[0] - a.value[0] > 1000;
}

static int counted(uint64_t what)
{
    int file = open_counter(what, -1);
    if (file >= 0 && !counts(file)) {
        close(file);
        return -1;
    }
    return file;
}

/* Takes the best counter that there is; returns whether the kernel knows of counters at all. */
static int choose(void)
{
    int known;
    sy_host_counters = counted(PERF_COUNT_HW_CPU_CYCLES);
    known = sy_host_counters >= 0 || errno != ENOSYS;
    if (sy_host_counters >= 0) {
        counter = CYCLES;
        (void)open_counter(PERF_COUNT_HW_INSTRUCTIONS, sy_host_counters);
        return known;
    }
    sy_host_counters = counted(PERF_COUNT_HW_INSTRUCTIONS);
#if defined(__x86_64__)
    counter = TIME_STAMP;
#else
    counter = sy_host_counters >= 0 ? INSTRUCTIONS : TIMER;
#endif
    sy_host_timed = counter != INSTRUCTIONS;
    return known;
}

/* What measures nothing: a processor that a program plays. */
static int emulated(int kernel_counts)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    (void)kernel_counts;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31 & 1))
        return 0;
    __cpuid(0x40000000, a, b, c, d); /* the hypervisor's name; QEMU's translator calls itself TCG */
    return b == 0x54474354 && c == 0x43544743 && d == 0x47435447;
#else
    uint64_t midr;
    if (!kernel_counts)
        return 1; /* no kernel of a board is built without; QEMU's user mode is */
    if (!(getauxval(AT_HWCAP) & 1ul << 11)) /* HWCAP_CPUID: the kernel lets us read it */
        return 0;
    __asm__("mrs %0, midr_el1" : "=r"(midr));
    return (midr >> 24 & 0xFF) == 0; /* implementer 0 is for software */
#endif
}

static uint64_t frequency(void)
{
#if defined(__aarch64__)
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz;
#else
    return 0;
#endif
}

static void told(int number)
{
    record('S', (uint64_t)number, 0);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

void sy_target_init(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    struct sigaction action = {.sa_handler = told, .sa_flags = SA_ONSTACK};
    stack_t other = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    int cpu = stay(), known;
    size_t i;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* an endless loop ends with the connection */
    (void)sigaltstack(&other, NULL);
    for (i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        (void)sigaction(fatal[i], &action, NULL);
    known = choose();
    record('C', (uint64_t)counter | (uint64_t)emulated(known) << 8 | (uint64_t)cpu << 16, frequency());
}

/* The linker calls this one first (--wrap=main). */
int __real_main(void);

static void on_own_stack(void)
{
    exit(__real_main());
}

int __wrap_main(void);

int __wrap_main(void)
{
    static ucontext_t here, there;
    (void)mlockall(MCL_CURRENT);
    if (getcontext(&there) != 0)
        return 4;
    there.uc_stack.ss_sp = sy_free_start;
    there.uc_stack.ss_size = ARENA;
    there.uc_link = &here;
    makecontext(&there, on_own_stack, 0);
    (void)swapcontext(&here, &there);
    return 5;
}
