/* elementwise: norms, activation functions and rotation, as spec/scalar_vector.c defines them. Element k of a sum goes
 * to accumulator k mod 16, which is a lane; lanes past the end hold zeros, which change no sum. */
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H

#include <math.h>

#include "fwd/kernels/exp.h"
#include "vocabulary.h"

enum { LANES = 16 };

enum { EXPS_MOST = 8 };

/* x[i] = exp_of(x[i]) for i < count, where none is above EXP_HIGH, or above 0 if `low`; both are constants where this
 * is expanded. Step by step for all of them, as each step waits for the one before. */
INLINE void vector_exps(f32x16 *x, size_t count, int low)
{
	const float factor[] = { EXP_C4, EXP_C3, EXP_C2, 1, 1 };
	const f32x16 round = vf_set1(EXP_ROUND);
	f32x16 n[EXPS_MOST], r[EXPS_MOST], p[EXPS_MOST];

	UNROLL
	for (size_t i = 0; i < count; i++)
		n[i] = vf_fma(x[i], vf_set1(EXP_LOG2E), round);
	UNROLL
	for (size_t i = 0; i < count; i++)
		n[i] = vf_sub(n[i], round);
	UNROLL
	for (size_t i = 0; i < count; i++)
		r[i] = vf_fma(n[i], vf_set1(-EXP_LN2_HIGH), x[i]);
	UNROLL
	for (size_t i = 0; i < count; i++)
		r[i] = vf_fma(n[i], vf_set1(-EXP_LN2_LOW), r[i]);
	UNROLL
	for (size_t i = 0; i < count; i++)
		p[i] = vf_fma(vf_set1(EXP_C6), r[i], vf_set1(EXP_C5));
	UNROLL
	for (size_t c = 0; c < sizeof factor / sizeof *factor; c++)
		UNROLL
		for (size_t i = 0; i < count; i++)
			p[i] = vf_fma(p[i], r[i], vf_set1(factor[c]));
	UNROLL
	for (size_t i = 0; i < count; i++) {    /* p and n are anything where x is below EXP_LOW */
		p[i] = low ? vf_scale2n_low(p[i], n[i]) : vf_scale2n(p[i], n[i]);
		x[i] = vf_zero_if_less(x[i], vf_set1(EXP_LOW), p[i]);
	}
}

/* exp_of(x) for x <= 0 or NaN */
static inline f32x16 vector_exp_low(f32x16 x)
{
	vector_exps(&x, 1, 1);
	return x;
}

static inline f32x16 vector_exp(f32x16 x)
{
	x = vf_min(vf_set1(EXP_HIGH), x);
	vector_exps(&x, 1, 0);
	return x;
}

/* exp_tanh */
static inline f32x16 vector_tanh(f32x16 x)
{
	f32x16 one = vf_set1(1), two = vf_set1(2);

	return vf_sub(one, vf_div(two, vf_add(one, vector_exp(vf_mul(two, x)))));
}

/* x / (1 + e^u) */
static inline f32x16 vector_over_exp(f32x16 x, f32x16 u)
{
	return vf_div(x, vf_add(vf_set1(1), vector_exp(u)));
}

/* exp_softplus */
static inline f32x16 vector_softplus(f32x16 x)
{
	f32x16 z = vector_exp_low(vf_min(x, vf_sub(vf_set1(-0.0f), x))), s = vf_div(z, vf_add(vf_set1(2), z));
	f32x16 u = vf_mul(s, s), p = vf_fma(vf_set1(SOFTPLUS_C4), u, vf_set1(SOFTPLUS_C3));

	p = vf_fma(p, u, vf_set1(SOFTPLUS_C2));
	p = vf_fma(p, u, vf_set1(SOFTPLUS_C1));
	p = vf_fma(p, u, vf_set1(SOFTPLUS_C0));
	return vf_add(vf_max(x, vf_zero()), vf_fma(vf_mul(s, u), p, vf_add(s, s)));
}

/* apply() in scalar_vector.c */
INLINE f32x16 vector_apply(enum unary f, f32x16 x)
{
	f32x16 negative = vf_sub(vf_set1(-0.0f), x), positive = vf_max(x, vf_zero());

	switch (f) {
	case UNARY_SILU: return vector_over_exp(x, negative);
	case UNARY_GELU:
		return vector_over_exp(x, vf_mul(x, vf_fma(vf_mul(x, x), vf_set1(EXP_GELU_3), vf_set1(EXP_GELU_1))));
	case UNARY_RELU: return positive;
	case UNARY_RELU2: return vf_mul(positive, positive);
	case UNARY_EXP: return vector_exp(x);
	case UNARY_SOFTPLUS: return vector_softplus(x);
	default: return vector_over_exp(vf_set1(1), negative);
	}
}

static inline f32x16 vector_clamped(f32x16 x, float most)
{
	return vf_min(vf_max(x, vf_set1(-most)), vf_set1(most));
}

/* exp_glu_oai */
static inline f32x16 vector_glu_oai(f32x16 gate, f32x16 up)
{
	f32x16 g = vf_min(gate, vf_set1(EXP_OAI_MOST)), u = vector_clamped(up, EXP_OAI_MOST);

	return vf_mul(vector_over_exp(g, vf_mul(vf_set1(-EXP_OAI_SLOPE), g)), vf_add(u, vf_set1(1)));
}

INLINE f32x16 vector_gated(enum unary f, f32x16 gate, f32x16 up)
{
	return f == UNARY_SWIGLU_OAI ? vector_glu_oai(gate, up) : vf_mul(vector_apply(f, gate), up);
}

/* ---- norms ---- */

static float vector_mean(const float *x, size_t n)
{
	f32x16 acc = vf_zero();
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		acc = vf_add(acc, vf_load(x + i));
	return vf_tree(vf_add(acc, vf_load_n(x + i, n - i))) / (float)n;
}

static float vector_mean_square(const float *x, float shift, size_t n)
{
	f32x16 acc = vf_zero(), d;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		d = vf_sub(vf_load(x + i), vf_set1(shift));
		acc = vf_fma(d, d, acc);
	}
	d = vf_first(vf_sub(vf_load_n(x + i, n - i), vf_set1(shift)), n - i);
	return vf_tree(vf_fma(d, d, acc)) / (float)n;
}

static void vector_norm(const struct norm *norm, const float *x, float *y, size_t n)
{
	const float *weight = norm->weight, *bias = norm->bias;
	float mean = norm->kind == NORM_LAYER ? vector_mean(x, n) : 0;
	f32x16 shift = vf_set1(mean), scale = vf_set1(1 / sqrtf(vector_mean_square(x, mean, n) + norm->eps)), z;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		z = vf_mul(vf_sub(vf_load(x + i), shift), scale);
		z = weight ? vf_mul(z, vf_load(weight + i)) : z;
		vf_store(y + i, bias ? vf_add(z, vf_load(bias + i)) : z);
	}
	z = vf_mul(vf_sub(vf_load_n(x + i, n - i), shift), scale);
	z = weight ? vf_mul(z, vf_load_n(weight + i, n - i)) : z;
	vf_store_n(y + i, bias ? vf_add(z, vf_load_n(bias + i, n - i)) : z, n - i);
}

/* ---- element by element ---- */

static void vector_add(float *y, const float *a, const float *b, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vf_add(vf_load(a + i), vf_load(b + i)));
	vf_store_n(y + i, vf_add(vf_load_n(a + i, n - i), vf_load_n(b + i, n - i)), n - i);
}

static void vector_add_scaled(float *y, const float *x, float s, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vf_fma(vf_set1(s), vf_load(x + i), vf_load(y + i)));
	vf_store_n(y + i, vf_fma(vf_set1(s), vf_load_n(x + i, n - i), vf_load_n(y + i, n - i)), n - i);
}

static void vector_scale(float *y, const float *x, float s, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vf_mul(vf_set1(s), vf_load(x + i)));
	vf_store_n(y + i, vf_mul(vf_set1(s), vf_load_n(x + i, n - i)), n - i);
}

static void vector_multiply(float *y, const float *a, const float *b, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vf_mul(vf_load(a + i), vf_load(b + i)));
	vf_store_n(y + i, vf_mul(vf_load_n(a + i, n - i), vf_load_n(b + i, n - i)), n - i);
}

static void vector_cap(float *x, float cap, size_t n)
{
	f32x16 c = vf_set1(cap);
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(x + i, vf_mul(vector_tanh(vf_div(vf_load(x + i), c)), c));
	vf_store_n(x + i, vf_mul(vector_tanh(vf_div(vf_load_n(x + i, n - i), c)), c), n - i);
}

static void vector_clamp(float *x, float most, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(x + i, vector_clamped(vf_load(x + i), most));
	vf_store_n(x + i, vector_clamped(vf_load_n(x + i, n - i), most), n - i);
}

static void vector_sparsify(float *x, float deviations, size_t n)
{
	float mean = vector_mean(x, n), sample = (float)n / (float)(n - 1);
	f32x16 least = vf_set1(mean + deviations * sqrtf(vector_mean_square(x, mean, n) * sample));
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(x + i, vf_max(vf_sub(vf_load(x + i), least), vf_zero()));
	vf_store_n(x + i, vf_max(vf_sub(vf_load_n(x + i, n - i), least), vf_zero()), n - i);
}

/* f is a constant where these are expanded. */
INLINE void vector_glu_of(enum unary f, float *y, const float *gate, const float *up, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vector_gated(f, vf_load(gate + i), vf_load(up + i)));
	vf_store_n(y + i, vector_gated(f, vf_load_n(gate + i, n - i), vf_load_n(up + i, n - i)), n - i);
}

static void vector_glu(enum unary f, float *y, const float *gate, const float *up, size_t n)
{
	switch (f) {
	case UNARY_SILU: vector_glu_of(UNARY_SILU, y, gate, up, n); break;
	case UNARY_GELU: vector_glu_of(UNARY_GELU, y, gate, up, n); break;
	default: vector_glu_of(f, y, gate, up, n);
	}
}

static void vector_unary(enum unary f, float *y, const float *x, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vector_apply(f, vf_load(x + i)));
	vf_store_n(y + i, vector_apply(f, vf_load_n(x + i, n - i)), n - i);
}

/* scalar_xielu() */
static inline f32x16 vector_xielu_16(const struct xielu *f, f32x16 x)
{
	f32x16 low = vf_sub(vf_sub(vector_exp(vf_min(x, vf_set1(f->eps))), vf_set1(1)), x);
	f32x16 high = vf_mul(vf_mul(vf_set1(f->positive), x), x);

	low = vf_mul(low, vf_set1(f->negative));
	return vf_fma(vf_set1(f->beta), x, vf_select_less(vf_zero(), x, high, low));
}

static void vector_xielu(const struct xielu *f, float *y, const float *x, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(y + i, vector_xielu_16(f, vf_load(x + i)));
	vf_store_n(y + i, vector_xielu_16(f, vf_load_n(x + i, n - i)), n - i);
}

/* ---- convolutions ---- */

static void vector_taps(float *y, const float *const w[], const float *const x[], size_t taps, const float *bias,
	size_t n)
{
	size_t i = 0, rest;
	f32x16 sum;

	for (; i + LANES <= n; i += LANES) {
		sum = vf_mul(vf_load(w[0] + i), vf_load(x[0] + i));
		for (size_t j = 1; j < taps; j++)
			sum = vf_add(sum, vf_mul(vf_load(w[j] + i), vf_load(x[j] + i)));
		vf_store(y + i, bias ? vf_add(sum, vf_load(bias + i)) : sum);
	}
	rest = n - i;
	sum = vf_mul(vf_load_n(w[0] + i, rest), vf_load_n(x[0] + i, rest));
	for (size_t j = 1; j < taps; j++)
		sum = vf_add(sum, vf_mul(vf_load_n(w[j] + i, rest), vf_load_n(x[j] + i, rest)));
	vf_store_n(y + i, bias ? vf_add(sum, vf_load_n(bias + i, rest)) : sum, rest);
}

/* ---- rotation ---- */

static inline void vector_rotate(f32x16 *a, f32x16 *b, f32x16 c, f32x16 s)
{
	f32x16 x = *a, y = *b;

	*a = vf_fms(x, c, vf_mul(y, s));
	*b = vf_fma(x, s, vf_mul(y, c));
}

static void vector_rope(enum rope_pairs pairs, float *x, const float *cos, const float *sin, size_t n_rot)
{
	size_t half = n_rot / 2, i = 0;
	f32x16 a, b;

	for (; i + LANES <= half; i += LANES)
		if (pairs == ROPE_ADJACENT) {
			vf_load_pairs(x + 2 * i, &a, &b);
			vector_rotate(&a, &b, vf_load(cos + i), vf_load(sin + i));
			vf_store_pairs(x + 2 * i, a, b);
		} else {
			a = vf_load(x + i), b = vf_load(x + half + i);
			vector_rotate(&a, &b, vf_load(cos + i), vf_load(sin + i));
			vf_store(x + i, a), vf_store(x + half + i, b);
		}
	for (; i < half; i++) {
		float *p = pairs == ROPE_ADJACENT ? x + 2 * i : x + i, *q = pairs == ROPE_ADJACENT ? p + 1 : p + half;
		float u = *p, v = *q;

		*p = fmaf(u, cos[i], -(v * sin[i]));
		*q = fmaf(u, sin[i], v * cos[i]);
	}
}

#endif
