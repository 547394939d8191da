/* Declarations only: there is no clock, so what calls one does not link. */
#ifndef STEELYARD_TIME_H
#define STEELYARD_TIME_H

#include <stddef.h>

#define CLOCKS_PER_SEC 1

typedef unsigned long clock_t, time_t;

#ifdef __cplusplus
extern "C" {
#endif

clock_t clock(void);
time_t time(time_t *at);

#ifdef __cplusplus
}
#endif

#endif
