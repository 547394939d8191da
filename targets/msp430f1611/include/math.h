/* Declarations only: there is no floating-point arithmetic, so what computes with it does not link. */
#ifndef STEELYARD_MATH_H
#define STEELYARD_MATH_H

#ifdef __cplusplus
extern "C" {
#endif

double ceil(double x);
double fabs(double x);
double floor(double x);
double log(double x);
double log2(double x);
double pow(double x, double y);
double sqrt(double x);

#ifdef __cplusplus
}
#endif

#endif
