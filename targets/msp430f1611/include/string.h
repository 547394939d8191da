/* The part of string.h that helpers.S and stdlib.c have. */
#ifndef STEELYARD_STRING_H
#define STEELYARD_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
size_t strlen(const char *text);
int strcmp(const char *one, const char *other);
char *strcpy(char *to, const char *from);

#ifdef __cplusplus
}
#endif

#endif
