/* scalar_vector: norms, activations and rotation, one element at a time. The specification of elementwise.h. */
#include "scalar.h"

#include <math.h>

#include "fwd/kernels/exp.h"

float scalar_tree(const float acc[16])
{
	float v[16];

	for (size_t i = 0; i < 16; i++)
		v[i] = acc[i];
	for (size_t half = 8; half > 0; half /= 2)
		for (size_t i = 0; i < half; i++)
			v[i] += v[i + half];
	return v[0];
}

static float mean(const float *x, size_t n)
{
	float acc[16] = { 0 };

	for (size_t i = 0; i < n; i++)
		acc[i % 16] += x[i];
	return scalar_tree(acc) / (float)n;
}

/* The mean of (x − shift)². */
static float mean_square(const float *x, float shift, size_t n)
{
	float acc[16] = { 0 };

	for (size_t i = 0; i < n; i++) {
		float d = x[i] - shift;

		acc[i % 16] = fmaf(d, d, acc[i % 16]);
	}
	return scalar_tree(acc) / (float)n;
}

void scalar_norm(const struct norm *norm, const float *x, float *y, size_t n)
{
	float shift = norm->kind == NORM_LAYER ? mean(x, n) : 0;
	float scale = 1 / sqrtf(mean_square(x, shift, n) + norm->eps);

	for (size_t i = 0; i < n; i++) {
		float z = (x[i] - shift) * scale;

		if (norm->weight)
			z *= norm->weight[i];
		if (norm->bias)
			z += norm->bias[i];
		y[i] = z;
	}
}

void scalar_add(float *y, const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}

void scalar_add_scaled(float *y, const float *x, float s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = fmaf(s, x[i], y[i]);
}

void scalar_scale(float *y, const float *x, float s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = s * x[i];
}

void scalar_multiply(float *y, const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = a[i] * b[i];
}

void scalar_cap(float *x, float cap, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = exp_tanh(x[i] / cap) * cap;
}

void scalar_clamp(float *x, float most, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = x[i] > -most ? x[i] : -most;
		x[i] = x[i] < most ? x[i] : most;
	}
}

void scalar_sparsify(float *x, float deviations, size_t n)
{
	float middle = mean(x, n), sample = (float)n / (float)(n - 1);
	float least = middle + deviations * sqrtf(mean_square(x, middle, n) * sample);

	for (size_t i = 0; i < n; i++)
		x[i] = x[i] - least > 0 ? x[i] - least : 0;
}

static float apply(enum unary f, float x)
{
	float positive = x > 0 ? x : 0;

	switch (f) {
	case UNARY_SILU: return exp_silu(x);
	case UNARY_GELU: return exp_gelu(x);
	case UNARY_RELU: return positive;
	case UNARY_RELU2: return positive * positive;
	case UNARY_EXP: return exp_of(x);
	case UNARY_SOFTPLUS: return exp_softplus(x);
	default: return exp_sigmoid(x);
	}
}

void scalar_glu(enum unary f, float *y, const float *gate, const float *up, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = f == UNARY_SWIGLU_OAI ? exp_glu_oai(gate[i], up[i]) : apply(f, gate[i]) * up[i];
}

void scalar_unary(enum unary f, float *y, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = apply(f, x[i]);
}

void scalar_xielu(const struct xielu *f, float *y, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float low = x[i] < f->eps ? x[i] : f->eps;
		float t = x[i] > 0 ? f->positive * x[i] * x[i] : (exp_of(low) - 1 - x[i]) * f->negative;

		y[i] = fmaf(f->beta, x[i], t);
	}
}

void scalar_taps(float *y, const float *const w[], const float *const x[], size_t taps, const float *bias, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float sum = w[0][i] * x[0][i];

		for (size_t j = 1; j < taps; j++)
			sum += w[j][i] * x[j][i];
		y[i] = bias ? sum + bias[i] : sum;
	}
}

void scalar_chain(const struct chain_job *d)
{
	for (size_t r = 0; r < d->rows; r++)
		for (size_t i = 0; i < d->n; i++)
			scalar_add_scaled(d->y + r * d->y_row, d->b + i * d->b_row, d->a[r * d->a_row + i * d->a_step],
				d->cols);
}

void scalar_dots(const struct chain_job *d)
{
	for (size_t r = 0; r < d->rows; r++)
		for (size_t c = 0; c < d->cols; c++) {
			float acc[16] = { 0 };

			for (size_t i = 0; i < d->n; i++)
				acc[i % 16] = fmaf(d->a[r * d->a_row + i], d->b[c * d->b_row + i], acc[i % 16]);
			d->y[r * d->y_row + c] = scalar_tree(acc);
		}
}

void scalar_rope(enum rope_pairs pairs, float *x, const float *cos, const float *sin, size_t n_rot)
{
	size_t step = pairs == ROPE_ADJACENT ? 2 : 1, apart = pairs == ROPE_ADJACENT ? 1 : n_rot / 2;

	for (size_t i = 0; i < n_rot / 2; i++) {
		float a = x[i * step], b = x[i * step + apart];

		x[i * step] = fmaf(a, cos[i], -(b * sin[i]));
		x[i * step + apart] = fmaf(a, sin[i], b * cos[i]);
	}
}
