/* A process as a device: standard input and output are the serial line, standard error carries what a
 * board shows on its pins: records of 16 bytes, 'P' and the ticks of a call, or 'I' and the number of bytes
 * taken in when the program waits for more. main runs on a stack of the size of a microcontroller's RAM. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "harness.h"

enum { ARENA = 196608, BUFFER = 65536 };

uint8_t sy_free_start[ARENA] __attribute__((aligned(64)));
uint64_t sy_host_started;

static uint8_t input[BUFFER], output[BUFFER];
static size_t input_at, input_end, output_end;
static uint64_t taken;

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

static void record(char kind, uint64_t value)
{
    uint64_t words[2] = {(uint64_t)kind, value};
    put(2, words, sizeof words);
}

void sy_host_pulse(uint64_t ticks)
{
    record('P', ticks);
}

uint8_t sy_getc(void)
{
    if (input_at == input_end) {
        ssize_t n;
        put(1, output, output_end);
        output_end = 0;
        record('I', taken);
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
void sy_target_init(void)
{
    cpu_set_t set;
    int cpu = CPU_SETSIZE - 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        while (cpu > 0 && !CPU_ISSET(cpu, &set))
            cpu--;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
    }
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
