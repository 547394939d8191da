/* The part of stdlib.h that the harness's heap and stdlib.c have. */
#ifndef STEELYARD_STDLIB_H
#define STEELYARD_STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

#ifdef __cplusplus
extern "C" {
#endif

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
int abs(int x); /* clang has it inside */
long labs(long x);
void abort(void) __attribute__((noreturn));
void exit(int code) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
