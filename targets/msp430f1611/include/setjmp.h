/* helpers.S has these. */
#ifndef STEELYARD_SETJMP_H
#define STEELYARD_SETJMP_H

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned jmp_buf[9];

int setjmp(jmp_buf place) __attribute__((returns_twice));
void longjmp(jmp_buf place, int value) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
