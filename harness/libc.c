/* What picolibc asks a board for. Packages print in debug code and assert; a board of ours has nowhere to print,
 * so output goes nowhere at no cost, and what ends a program stops where the simulator or a debugger sees it.
 * The other C libraries bring their own, down to system calls that do nothing. */
#if defined(__has_include)
#if __has_include(<picolibc.h>)
#include <stdio.h>
#include <stdlib.h>

static FILE sink;
FILE *const stdout = &sink;
FILE *const stderr = &sink;

void __assert_func(const char *file, int line, const char *function, const char *expression) __attribute__((noreturn));

void __assert_func(const char *file, int line, const char *function, const char *expression)
{
    (void)file, (void)line, (void)function, (void)expression;
    __builtin_trap();
}

void abort(void)
{
    __builtin_trap();
}

void exit(int code)
{
    (void)code;
    __builtin_trap();
}

int printf(const char *format, ...)
{
    (void)format;
    return 0;
}

int fprintf(FILE *f, const char *format, ...)
{
    (void)f, (void)format;
    return 0;
}

int puts(const char *s)
{
    (void)s;
    return 0;
}

int fputs(const char *s, FILE *f)
{
    (void)s, (void)f;
    return 0;
}

int(putchar)(int c)
{
    return (unsigned char)c;
}

int fputc(int c, FILE *f)
{
    (void)f;
    return (unsigned char)c;
}

int(putc)(int c, FILE *f)
{
    (void)f;
    return (unsigned char)c;
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *f)
{
    (void)data, (void)size, (void)f;
    return count;
}

int fflush(FILE *f)
{
    (void)f;
    return 0;
}

void perror(const char *s)
{
    (void)s;
}
#endif
#endif
