/* The part of string.h that helpers.S has. */
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

#ifdef __cplusplus
}
#endif

#endif
