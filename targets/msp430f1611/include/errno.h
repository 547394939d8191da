#ifndef STEELYARD_ERRNO_H
#define STEELYARD_ERRNO_H

#define EDOM 33
#define ERANGE 34
#define EINVAL 22
#define ENOMEM 12

#ifdef __cplusplus
extern "C" {
#endif

extern int errno;

#ifdef __cplusplus
}
#endif

#endif
