/* score: a block of the score of a token, as lib/sampler/score.c defines it. */
#ifndef SIMD_SCORE_H
#define SIMD_SCORE_H

#include <math.h>

#include "elementwise.h"
#include "lib/base/fmath.h"

enum { SCORE_SUM = 256 };       /* elements that fmath_softmax() adds up as floats */

/* e^-a for a >= 0, as fmath_exp(). */
static inline f32x16 vector_exp_minus(f32x16 a)
{
	const float round = FMATH_EXP_ROUND;
	f32x16 t = vf_min(a, vf_set1(FMATH_EXP_MOST));
	f32x16 shifted = vf_add(vf_mul(t, vf_set1(-FMATH_EXP_LOG2E)), vf_set1(round));
	f32x16 n = vf_sub(shifted, vf_set1(round)), r, y;
	i32x16 exponent = vi_sub(vf_as_int(shifted), vf_as_int(vf_set1(round - 127)));

	r = vf_sub(vf_sub(vf_set1(-0.0f), t), vf_mul(n, vf_set1(FMATH_EXP_LN2_HIGH)));
	r = vf_sub(r, vf_mul(n, vf_set1(FMATH_EXP_LN2_LOW)));
	y = vf_set1(FMATH_EXP_C6);
	y = vf_add(vf_mul(y, r), vf_set1(FMATH_EXP_C5));
	y = vf_add(vf_mul(y, r), vf_set1(FMATH_EXP_C4));
	y = vf_add(vf_mul(y, r), vf_set1(FMATH_EXP_C3));
	y = vf_add(vf_mul(y, r), vf_set1(FMATH_EXP_C2));
	y = vf_add(vf_add(vf_mul(y, vf_mul(r, r)), r), vf_set1(1));
	return vf_mul(y, vi_as_float(vi_shl(exponent, 23)));
}

/* The sum of fmath_softmax(). */
static double vector_exp_sum(const float *x, float max, size_t n)
{
	size_t i = 0, whole = n - n % LANES;
	double sum = 0;

	while (i < whole) {
		size_t end = i + size_min(SCORE_SUM, whole - i);
		f32x16 acc = vf_zero();

		for (; i < end; i += LANES)
			acc = vf_add(acc, vector_exp_minus(vf_sub(vf_set1(max), vf_load(x + i))));
		sum += (double)vf_tree(acc);
	}
	for (; i < n; i++)
		sum += (double)fmath_exp(x[i] - max);
	return sum;
}

static void vector_score(const float *row, size_t n_vocab, int32_t id, size_t b, struct score_part *part)
{
	f32x16 one = vf_set1(1), max = vf_set1(-INFINITY), above = vf_zero(), invalid = vf_zero(), v;
	f32x16 least = vf_set1(score_least(row, id, b)), infinity = vf_set1(INFINITY);
	size_t n = size_min(n_vocab - b * SCORE_BLOCK, SCORE_BLOCK), i = 0;
	const float *x = row + b * SCORE_BLOCK;

	for (; i + LANES <= n; i += LANES) {
		v = vf_load(x + i);
		max = vf_max(v, max);
		above = vf_add(above, vf_select_less(v, least, vf_zero(), one));
		invalid = vf_add(invalid, vf_select_less(v, infinity, vf_zero(), one));
	}
	*part = (struct score_part){ .max = vf_largest(max), .invalid = vf_largest(invalid) > 0,
		.above = (uint32_t)vf_tree(above) + score_ties(row, id, b) };
	for (; i < n; i++) {
		part->max = x[i] > part->max ? x[i] : part->max;
		part->above += !(x[i] < score_least(row, id, b));
		part->invalid |= !(x[i] < INFINITY);
	}
	if (part->max > -INFINITY && !part->invalid)
		part->sum = vector_exp_sum(x, part->max, n);
}

#endif
