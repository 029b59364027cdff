/* reference_math: products, norms, rotations and activations. */
#include "reference_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void product(double *y, const float *weight, const float *bias, const double *x, size_t n, size_t cols,
	size_t rows)
{
	for (size_t i = 0; i < n; i++)
		for (size_t r = 0; r < rows; r++) {
			double sum = bias ? bias[r] : 0;

			for (size_t c = 0; c < cols; c++)
				sum += (double)weight[r * cols + c] * x[i * cols + c];
			y[i * rows + r] = sum;
		}
}

void add_delta(const char *prefix, double *y, const double *x, size_t n, size_t cols, size_t rows)
{
	size_t each = m.n_adapters + 1, rank = n_weights(&m, "%s.lora_a", prefix) / cols / each;
	float *a = weights(&m, cols * rank * each, "%s.lora_a", prefix);
	float *b = weights(&m, rank * rows * each, "%s.lora_b", prefix);
	double *low = memory(rank, sizeof *low), *delta = memory(rows, sizeof *delta);

	for (size_t i = 0; i < n && a && b; i++) {
		product(low, a + m.adapter[i] * rank * cols, NULL, x + i * cols, 1, cols, rank);
		product(delta, b + m.adapter[i] * rows * rank, NULL, low, 1, rank, rows);
		for (size_t r = 0; r < rows; r++)
			y[i * rows + r] += delta[r];
	}
	free(a);
	free(b);
	free(low);
	free(delta);
}

double *linear(const char *prefix, const double *x, size_t n, size_t cols, size_t rows)
{
	int unbiased = m.rules->unbiased && strstr(prefix, m.rules->unbiased);
	float *weight = weights(&m, rows * cols, "%s.weight", prefix);
	float *bias = unbiased ? NULL : weights(&m, rows, "%s.bias", prefix);
	float *scale = n_weights(&m, "%s.scale", prefix) == 1 ? weights(&m, 1, "%s.scale", prefix) : NULL;
	double *y = memory(n * rows, sizeof *y);

	if (!weight)
		die("%s.weight: missing", prefix);
	for (size_t i = 0; i < rows * cols && scale; i++)
		weight[i] *= *scale;
	product(y, weight, bias, x, n, cols, rows);
	if (m.n_adapters)
		add_delta(prefix, y, x, n, cols, rows);
	free(weight);
	free(bias);
	free(scale);
	return y;
}

void norm_rows(double *x, size_t n, size_t width, const float *weight, const float *bias, size_t sets)
{
	for (size_t i = 0; i < n; i++) {
		double *a = x + i * width, mean = 0, square = 0;

		for (size_t k = 0; k < width && m.rules->layer_norm; k++)
			mean += a[k] / (double)width;
		for (size_t k = 0; k < width; k++)
			square += (a[k] - mean) * (a[k] - mean) / (double)width;
		for (size_t k = 0; k < width; k++)
			a[k] = (a[k] - mean) / sqrt(square + m.eps) * (weight ? weight[i % sets * width + k] : 1)
				+ (bias ? bias[k] : 0);
	}
}

void bare_norm_rows(double *x, size_t n, size_t width)
{
	norm_rows(x, n, width, NULL, NULL, 1);
}

void norm_in_place(const char *prefix, double *x, size_t n, size_t width)
{
	const char *suffix = n_weights(&m, "%s", prefix) ? "" : ".weight";      /* Falcon-H1's names lack the suffix */
	size_t sets = n_weights(&m, "%s%s", prefix, suffix) / width;
	float *weight = weights(&m, sets * width, "%s%s", prefix, suffix);
	float *bias = weights(&m, width, "%s.bias", prefix);

	norm_rows(x, n, width, weight, bias, sets);
	free(weight);
	free(bias);
}

void norm_branch(size_t il, const char *name, double *x, size_t n)
{
	double eps = m.eps;

	m.eps = m.post_eps > 0 ? m.post_eps : eps;
	norm_in_place(part(il, name), x, n, m.n_embd);
	m.eps = eps;
}

double *copy(const double *x, size_t n)
{
	double *y = memory(n, sizeof *y);

	memcpy(y, x, n * sizeof *y);
	return y;
}

/* Returns the angle per position of pair i; *length is the factor of its cosine and sine. */
static double rope_frequency(const struct reference_layer *l, size_t i, const float *factors, double *length)
{
	double d = (double)m.n_rot, base = l->plain_base > 0 ? l->plain_base : l->base > 0 ? l->base : m.rope_base;
	double full = pow(base, -2.0 * (double)i / d);
	double scaled, low, high, ramp, turn = 2 * acos(-1);
	size_t sum = m.section[0] + m.section[1] + m.section[2] + m.section[3], j = sum ? i % sum : 0;

	*length = l->plain_base > 0 ? m.plain_length : 1;
	if (l->plain_base > 0)
		return full;
	if (sum && (m.interleaved ? j >= 3 * m.section[j % 3] : j >= sum - m.section[3]))
		return 0;
	*length = m.rope_length;
	full /= factors ? factors[i] : 1;
	scaled = full / m.factor;
	if (!m.yarn)
		return scaled;
	/* YaRN: pairs that turn more than beta_fast times in the original context keep their frequency, those that turn
	 * less than beta_slow times are scaled by the factor, and the ones between are interpolated. */
	low = floor(d * log(m.original_ctx / (m.beta_fast * turn)) / (2 * log(base)));
	high = ceil(d * log(m.original_ctx / (m.beta_slow * turn)) / (2 * log(base)));
	low = fmax(low, 0);
	high = fmin(high, d - 1);
	ramp = 1 - m.kept * (1 - fmin(1, fmax(0, ((double)i - low) / fmax(0.001, high - low))));
	return full * (1 - ramp) + scaled * ramp;
}

void rope(const struct reference_layer *l, double *x, size_t n, size_t heads, size_t d)
{
	float *factors = l->plain_base > 0 ? NULL : weights(&m, n_weights(&m, "%s", m.factors), "%s", m.factors);

	for (size_t pair = 0; pair < m.n_rot / 2; pair++) {
		double length, frequency = rope_frequency(l, pair, factors, &length);
		size_t a = m.halves ? pair : 2 * pair, b = m.halves ? a + m.n_rot / 2 : a + 1;

		for (size_t i = 0; i < n; i++)
			for (size_t h = 0; h < heads; h++) {
				double *v = x + (i * heads + h) * d, va = v[a], vb = v[b];
				double co = cos((double)i * frequency) * length;
				double si = sin((double)i * frequency) * length;

				v[a] = va * co - vb * si;
				v[b] = va * si + vb * co;
			}
	}
	free(factors);
}

static double silu(double x)
{
	return x / (1 + exp(-x));
}

float *needed(size_t layer, const char *what, size_t n)
{
	float *x = weights(&m, n, "blk.%zu.%s", layer, what);

	if (!x)
		die("blk.%zu.%s: missing", layer, what);
	return x;
}

double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

double gelu(double x)
{
	return x * 0.5 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

double activation(const double *xielu, double x)
{
	switch (m.act) {
	case GELU: return gelu(x);
	case RELU: return fmax(x, 0);
	case RELU2: return fmax(x, 0) * fmax(x, 0);
	case XIELU:
		return x > 0 ? xielu[0] * x * x + xielu[2] * x
			: (expm1(fmin(x, xielu[3])) - x) * xielu[1] + xielu[2] * x;
	default: return silu(x);
	}
}

double gated(double gate, double up, double limit)
{
	if (m.soft_gate > 0)
		return m.soft_gate * tanh(gate / m.soft_gate) * sigmoid(gate)
			* (m.soft_up > 0 ? m.soft_up * tanh(up / m.soft_up) : up);
	if (limit > 0 && m.rules->limits_gates)
		return activation(NULL, fmin(gate, limit)) * fmin(fmax(up, -limit), limit);
	if (limit > 0)
		return fmin(activation(NULL, gate), limit) * fmin(fmax(up, -limit), limit);
	if (m.act != SWIGLU_OAI)
		return activation(NULL, gate) * up;
	gate = fmin(gate, 7);           /* gpt-oss clamps gate and up */
	up = fmin(fmax(up, -7), 7);
	return gate / (1 + exp(-1.702 * gate)) * (up + 1);
}

const char *part(size_t layer, const char *what)
{
	static char name[64];

	if (m.rules->ollama && !strcmp(what, "attn_output"))
		what = "attn_out";
	snprintf(name, sizeof name, "blk.%zu.%s", layer, what);
	return name;
}

int has(size_t layer, const char *what)
{
	return n_weights(&m, "%s.weight", part(layer, what)) > 0;
}

void add(double *x, double *branch, size_t n)
{
	for (size_t i = 0; i < n * m.n_embd; i++)
		x[i] += branch[i] * m.residual_scale;
	free(branch);
}

double *columns(const double *x, size_t n, size_t stride, size_t from, size_t width)
{
	double *y = memory(n * width, sizeof *y);

	for (size_t i = 0; i < n; i++)
		memcpy(y + i * width, x + i * stride + from, width * sizeof *y);
	return y;
}

size_t greatest(const double *x, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

void softmax(double *x, size_t n)
{
	double most = x[greatest(x, n)], sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] = exp(x[i] - most);
	for (size_t i = 0; i < n; i++)
		x[i] /= sum;
}
