/* fmath: exp by 2^n·e^r with |r| <= ln(2)/2 and a polynomial; log by 2^e·m and the series of atanh. */
#include "fmath.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "the arithmetic is defined on floats and doubles, not on wider intermediates");

/* Compilers can do several of each of the next two at once, but not of both together: a comparison becomes a jump over
 * what does not depend on it. */
static inline float above_least(float x)
{
	return x > -FMATH_EXP_MOST ? x : -FMATH_EXP_MOST;
}

/* e^x for -FMATH_EXP_MOST <= x <= 0 */
static inline float exp_minus(float x)
{
	const float round = FMATH_EXP_ROUND;
	float shifted = x * FMATH_EXP_LOG2E + round, n = shifted - round, r, y, scale;
	int32_t bits;

	r = x - n * FMATH_EXP_LN2_HIGH;
	r = r - n * FMATH_EXP_LN2_LOW;
	y = FMATH_EXP_C6;
	y = y * r + FMATH_EXP_C5;
	y = y * r + FMATH_EXP_C4;
	y = y * r + FMATH_EXP_C3;
	y = y * r + FMATH_EXP_C2;
	y = y * (r * r) + r + 1;
	/* n + 127 in the exponent's place; n = −127 makes a zero of it. */
	bits = ((int32_t)n + 127) << 23;
	memcpy(&scale, &bits, sizeof scale);
	return y * scale;
}

float fmath_exp(float x)
{
	return exp_minus(above_least(x));
}

static float fold(float v[16])
{
	size_t half, i;

	for (half = 8; half; half /= 2)
		for (i = 0; i < half; i++)
			v[i] += v[i + half];
	return v[0];
}

double fmath_softmax(const float *x, float max, float *p, size_t n)
{
	double sum = 0;
	float lane[16], v[16];  /* v: a copy, so that a compiler need not fear that p overlaps x */
	size_t i = 0, end, k;

	while (n - i >= 16) {
		end = n - i >= 256 ? i + 256 : n - (n - i) % 16;
		memset(lane, 0, sizeof lane);
		for (; i < end; i += 16) {
			for (k = 0; k < 16; k++)
				v[k] = above_least(x[i + k] - max);
			for (k = 0; k < 16; k++)
				v[k] = exp_minus(v[k]);
			for (k = 0; k < 16; k++)
				lane[k] += v[k];
			memcpy(p + i, v, sizeof v);
		}
		sum += fold(lane);
	}
	for (; i < n; i++)
		sum += p[i] = fmath_exp(x[i] - max);
	return sum;
}

double fmath_log(double x)
{
	int64_t bits, e = 0;
	double m, s, z, y = 0;
	int k;

	if (x < DBL_MIN) {
		x *= 0x1p54;
		e = -54;
	}
	memcpy(&bits, &x, sizeof bits);
	/* m in [sqrt(1/2), sqrt(2)) and e with x = m·2^e. */
	e += (bits - INT64_C(0x3fe6a09e667f3bcd)) >> 52;
	bits -= ((bits - INT64_C(0x3fe6a09e667f3bcd)) >> 52) * (INT64_C(1) << 52);
	memcpy(&m, &bits, sizeof m);
	/* ln m = 2·(s + s³/3 + s⁵/5 + ...), s = (m − 1)/(m + 1), |s| < 0.1716; 11 terms leave less than 2^-57. */
	s = (m - 1) / (m + 1);
	z = s * s;
	for (k = 21; k > 1; k -= 2)
		y = (y + 1.0 / k) * z;
	return (double)e * 0x1.62e42fefa3800p-1 + ((double)e * 0x1.ef35793c76730p-45 + 2 * (s + s * y));
}

double fmath_exp_double(double x)
{
	const double log2_e = 0x1.71547652b82fep+0, ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
	double n = floor(x * log2_e + 0.5), r = fma(-n, ln2_low, fma(-n, ln2_high, x)), y = 1;

	/* |r| <= ln(2)/2: the 14th term of the series is below 2^-57 */
	for (int i = 14; i > 0; i--)
		y = y * r / i + 1;
	return ldexp(y, (int)n);
}

/* e^x for |x| < 710: 2^n·e^r as in exp_minus(); 13 terms of the series leave less than 2^-57. Only for fmath_pow(), on
 * whose bits sampled ids depend: those of fmath_exp_double() differ in the last one for 1 x of 500. */
static double exp_double(double x)
{
	const double round = 0x1.8p52;
	double n = x * 0x1.71547652b82fep+0 + round - round, r = x - n * 0x1.62e42fefa3800p-1, y = 1, scale;
	int64_t bits = ((int64_t)n + 1022) << 52;
	int k;

	r = r - n * 0x1.ef35793c76730p-45;
	for (k = 13; k > 0; k--)
		y = 1 + r / k * y;
	memcpy(&scale, &bits, sizeof scale);
	return 2 * y * scale;
}

double fmath_pow(double x, double y)
{
	double l;

	if (y == 0 || x == 1)
		return 1;
	if (x <= 0)
		return y < 0 ? INFINITY : 0;
	l = y * fmath_log(x);
	return l > 709 ? INFINITY : l < -708 ? 0 : exp_double(l);
}
