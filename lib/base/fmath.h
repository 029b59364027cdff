/* fmath: exponential and logarithm for everything that decides an id, and for constants of a model. They use only
 * operations that are correctly rounded by definition, so that every machine draws the same; libm's results differ in
 * the last bit from one library to the next. */
#ifndef FMATH_H
#define FMATH_H

#include <stddef.h>

/* The constants of fmath_exp(), for kernels that compute many at once in the same way. ln 2 is split in two parts; the
 * first is so short that small multiples of it are exact. */
#define FMATH_EXP_MOST 88.0f
#define FMATH_EXP_ROUND 0x1.8p23f       /* added and taken away, it leaves an integer */
#define FMATH_EXP_LOG2E 0x1.715476p+0f
#define FMATH_EXP_LN2_HIGH 0x1.62e4p-1f
#define FMATH_EXP_LN2_LOW 0x1.7f7d1cp-20f
#define FMATH_EXP_C2 0x1.fffffep-2f
#define FMATH_EXP_C3 0x1.555492p-3f
#define FMATH_EXP_C4 0x1.555908p-5f
#define FMATH_EXP_C5 0x1.123beap-7f
#define FMATH_EXP_C6 0x1.6a9bd6p-10f

/* e^x for x <= 0 (−infinity too), within 2 units in the last place; 0 where it would be below 2^-126.5. */
float fmath_exp(float x);

/* p[i] = e^(x[i] − max), at most 1 each; returns their sum: blocks of 256 are summed in 16 accumulators (element k in k
 * mod 16), closed by the tree v[i] += v[i+8], 4, 2, 1, and added in order as doubles; elements past the last block of
 * 16 follow one by one. p may be x. */
double fmath_softmax(const float *x, float max, float *p, size_t n);

/* e^x for -709 <= x <= 709, within 4 units in the last place of a double. */
double fmath_exp_double(double x);

/* ln x for a positive finite x, within 2 units in the last place. */
double fmath_log(double x);

/* x^y for a finite x >= 0, within 1e-13 of it; 1 for y = 0, +infinity beyond e^709, 0 below e^-708. */
double fmath_pow(double x, double y);

#endif
