/* A heap for implementations that ask for one: between the buffers and the stack, empty before
 * each call, the same on every target. Blocks that are free are given back from the newest on. */
#include "harness.h"

uint8_t *volatile sy_stack_limit;
uint8_t *sy_heap_base;
size_t sy_heap_peak;

/* 8 bytes at the most everywhere, as sizes of int */
struct block {
    unsigned size;
    unsigned before; /* bytes from the block before to this one; 0 of the first, and odd where this one is free */
};

#ifndef SY_LIBC_HEAP /* where the C library's own heap stays */

enum { ALIGN = 8, HEAD = (sizeof(struct block) + ALIGN - 1) / ALIGN * ALIGN };

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);

/* where the next block begins; sy_stack_limit stays at the most, for what was freed is not as it was painted */
static uint8_t *top;
static struct block *newest;

/* bit of sy_heap_peak that says that a block was refused */
#define REFUSED ((size_t)1 << (sizeof(size_t) == 2 ? 15 : 31))

void *malloc(size_t size)
{
    size_t used, room;
    uintptr_t start;
    struct block *b;
    if (sy_stack_limit == sy_heap_base) { /* the call's first */
        top = sy_heap_base;
        newest = NULL;
    }
    start = ((uintptr_t)top + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    room = (uintptr_t)SY_STACK_POINTER() - start;
    b = (struct block *)start;
    if (room > (uintptr_t)SY_STACK_POINTER() || room < HEAD + SY_STACK_RESERVE || size > room - HEAD - SY_STACK_RESERVE) {
        sy_heap_peak |= REFUSED;
        return NULL;
    }
    b->size = (unsigned)size;
    b->before = newest == NULL ? 0 : (unsigned)(start - (uintptr_t)newest);
    newest = b;
    top = (uint8_t *)start + HEAD + size;
    if (top > sy_stack_limit)
        sy_stack_limit = top;
    used = (size_t)(top - sy_heap_base);
    if (used > (sy_heap_peak & ~REFUSED))
        sy_heap_peak = used | (sy_heap_peak & REFUSED);
    return (uint8_t *)start + HEAD;
}

void free(void *p)
{
    struct block *b = (struct block *)((uint8_t *)p - HEAD);
    unsigned before;
    if (p == NULL || sy_stack_limit == sy_heap_base || (uint8_t *)b < sy_heap_base || (uint8_t *)p > top)
        return; /* no block of this call */
    b->before |= 1;
    while (newest != NULL && newest->before & 1) {
        top = (uint8_t *)newest;
        before = newest->before & ~1u;
        newest = before == 0 || before > (size_t)(top - sy_heap_base) ? NULL : (struct block *)(top - before);
    }
}

void *calloc(size_t count, size_t size)
{
    uint8_t *p;
    size_t i;
    if (size != 0 && count > (size_t)-1 / size)
        return NULL;
    p = malloc(count * size);
    for (i = 0; p != NULL && i < count * size; i++)
        ((volatile uint8_t *)p)[i] = 0;
    return p;
}

/* What C++ packages ask for, under the names that compilers give it where size_t is unsigned int:
 * operator new, new[], delete, delete[], the sized deletes, and the stub of a pure virtual function. */
void *_Znwj(size_t size);
void *_Znaj(size_t size);
void _ZdlPv(void *block);
void _ZdaPv(void *block);
void _ZdlPvj(void *block, size_t size);
void _ZdaPvj(void *block, size_t size);
void __cxa_pure_virtual(void);

void *_Znwj(size_t size)
{
    return malloc(size);
}

void *_Znaj(size_t size)
{
    return malloc(size);
}

void _ZdlPv(void *block)
{
    free(block);
}

void _ZdaPv(void *block)
{
    free(block);
}

void _ZdlPvj(void *block, size_t size)
{
    (void)size;
    free(block);
}

void _ZdaPvj(void *block, size_t size)
{
    (void)size;
    free(block);
}

void __cxa_pure_virtual(void)
{
    for (;;)
        ;
}

void *realloc(void *old, size_t size)
{
    struct block *b = (struct block *)((uint8_t *)old - HEAD);
    uint8_t *p;
    size_t i, keep;
    int last = old != NULL && b == newest;
    if (old == NULL)
        return malloc(size);
    keep = b->size;
    if (last) /* then it grows or shrinks where it is, or moves down */
        free(old);
    p = malloc(size);
    if (p == NULL) {
        if (last) {
            b->before &= ~1u;
            newest = b;
            top = (uint8_t *)old + keep;
        }
        return NULL;
    }
    for (i = 0; i < keep && i < size && p != old; i++)
        p[i] = ((uint8_t *)old)[i];
    if (!last)
        free(old);
    return p;
}

#endif
