/* A heap for implementations that ask for one: between the buffers and the stack, empty before
 * each call, the same on every target. Blocks are given back when they are the newest. */
#include "harness.h"

uint8_t *volatile sy_stack_limit;
uint8_t *sy_heap_base;
size_t sy_heap_peak;

struct block {
    size_t size;
};

#ifndef SY_LIBC_HEAP /* where the C library's own heap stays */

enum { ALIGN = 8, HEAD = (sizeof(struct block) + ALIGN - 1) / ALIGN * ALIGN };

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);

/* where the next block begins; sy_stack_limit stays at the most, for what was freed is not as it was painted */
static uint8_t *top;

/* bit of sy_heap_peak that says that a block was refused */
#define REFUSED ((size_t)1 << (sizeof(size_t) == 2 ? 15 : 31))

void *malloc(size_t size)
{
    size_t used, room;
    uintptr_t start;
    struct block *b;
    if (sy_stack_limit == sy_heap_base) /* the call's first */
        top = sy_heap_base;
    start = ((uintptr_t)top + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    room = (uintptr_t)SY_STACK_POINTER() - start;
    b = (struct block *)start;
    if (room > (uintptr_t)SY_STACK_POINTER() || room < HEAD + SY_STACK_RESERVE || size > room - HEAD - SY_STACK_RESERVE) {
        sy_heap_peak |= REFUSED;
        return NULL;
    }
    b->size = size;
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
    if (p != NULL && (uint8_t *)p + b->size == top)
        top = (uint8_t *)b;
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
    uint8_t *p;
    size_t i, keep;
    if (old == NULL)
        return malloc(size);
    p = malloc(size);
    if (p == NULL)
        return NULL;
    keep = ((struct block *)((uint8_t *)old - HEAD))->size;
    for (i = 0; i < keep && i < size; i++)
        p[i] = ((uint8_t *)old)[i];
    free(old);
    return p;
}

#endif
