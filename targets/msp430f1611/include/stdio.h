/* There is nothing to print to: stdlib.c says nothing. */
#ifndef STEELYARD_STDIO_H
#define STEELYARD_STDIO_H

#include <stddef.h>

#define EOF (-1)
#define stdout ((FILE *)0)
#define stderr ((FILE *)0)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sy_file FILE;

int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int puts(const char *text);
int putchar(int byte);
int fputs(const char *text, FILE *file);
int fputc(int byte, FILE *file);
int putc(int byte, FILE *file);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file);
int fflush(FILE *file);
void perror(const char *text);

#ifdef __cplusplus
}
#endif

#endif
