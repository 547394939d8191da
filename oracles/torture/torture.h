/* What the programs share. Each makes one number out of its results; the same number must come out at
 * every optimisation level and, where int has 32 bits, on every machine. */
#ifndef TORTURE_H
#define TORTURE_H

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

/* A value that the compiler does not know. */
#define OPAQUE(type, x) (__extension__({ \
    volatile type opaque_ = (x); \
    opaque_; \
}))

static inline uint32_t mix(uint32_t sum, uint32_t value)
{
    sum ^= value;
    return (sum << 7 | sum >> 25) + 0x9E3779B9u;
}

static inline uint32_t mix64(uint32_t sum, uint64_t value)
{
    return mix(mix(sum, (uint32_t)value), (uint32_t)(value >> 32));
}

uint32_t promote(void);
uint32_t wide(void);
uint32_t shifts(void);
uint32_t divide(void);
uint32_t bitfields(void);
uint32_t structs(void);
uint32_t varargs(void);
uint32_t switches(void);
uint32_t recursion(void);
uint32_t blocks(void);
uint32_t jumps(void);
uint32_t narrow(void);
uint32_t pointers(void);
uint32_t registers(void);

#endif
