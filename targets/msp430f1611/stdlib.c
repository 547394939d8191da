/* What include/ declares and neither helpers.S nor the harness has. GCC's C library has its own. */
#ifdef __clang__

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int errno;

void abort(void)
{
    for (;;)
        __asm__ volatile("bis #0x10, r2"); /* CPUOFF: where a debugger or the simulator sees it */
}

void exit(int code)
{
    (void)code;
    abort();
}

int strcmp(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return (unsigned char)*one - (unsigned char)*other;
}

char *strcpy(char *to, const char *from)
{
    return memcpy(to, from, strlen(from) + 1);
}

int printf(const char *format, ...)
{
    (void)format;
    return 0;
}

int fprintf(FILE *file, const char *format, ...)
{
    (void)file;
    (void)format;
    return 0;
}

int puts(const char *text)
{
    (void)text;
    return 0;
}

int putchar(int byte)
{
    return (unsigned char)byte;
}

int fputs(const char *text, FILE *file)
{
    (void)text;
    (void)file;
    return 0;
}

int fputc(int byte, FILE *file)
{
    (void)file;
    return (unsigned char)byte;
}

int putc(int byte, FILE *file)
{
    (void)file;
    return (unsigned char)byte;
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    (void)data;
    (void)size;
    (void)file;
    return count;
}

int fflush(FILE *file)
{
    (void)file;
    return 0;
}

void perror(const char *text)
{
    (void)text;
}

#endif
