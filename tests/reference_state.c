/* reference_state: mixers with recurrent state: short convolutions (Liquid AI 2025), Mamba (Gu and Dao 2023), Mamba 2
 * (Dao and Gu 2024), RWKV 7 (Peng et al. 2025). Position by position, as the papers write them. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* What weights() gives, or the end of the program. */
static float *needed(size_t il, const char *what, size_t n)
{
	float *x = weights(&m, n, "blk.%zu.%s", il, what);

	if (!x)
		die("blk.%zu.%s: missing", il, what);
	return x;
}

/* A causal convolution of the channels of x[n][width], by WHAT.weight[width][taps], plus WHAT.bias. */
static double *convolve(size_t il, const char *what, const double *x, size_t n, size_t width)
{
	size_t taps = n_weights(&m, "blk.%zu.%s.weight", il, what) / width;
	float *w = weights(&m, taps * width, "blk.%zu.%s.weight", il, what);
	float *bias = weights(&m, width, "blk.%zu.%s.bias", il, what);
	double *y = memory(n * width, sizeof *y);

	for (size_t t = 0; t < n; t++)
		for (size_t c = 0; c < width; c++) {
			double sum = bias ? bias[c] : 0;

			for (size_t j = 0; j < taps && j <= t; j++)
				sum += (double)w[c * taps + taps - 1 - j] * x[(t - j) * width + c];
			y[t * width + c] = sum;
		}
	free(w);
	free(bias);
	return y;
}

/* Gates around it: C · conv(B · X). */
double *convolution(size_t il, const double *x, size_t n)
{
	size_t width = m.n_embd;
	double *in = linear(part(il, "shortconv.in_proj"), x, n, width, 3 * width), *branch, *out;
	double *b = columns(in, n, 3 * width, 0, width), *c = columns(in, n, 3 * width, width, width);
	double *u = columns(in, n, 3 * width, 2 * width, width);

	for (size_t i = 0; i < n * width; i++)
		u[i] *= b[i];
	out = convolve(il, "shortconv.conv", u, n, width);
	for (size_t i = 0; i < n * width; i++)
		out[i] *= c[i];
	branch = linear(part(il, "shortconv.out_proj"), out, n, width, width);
	free(in);
	free(b);
	free(c);
	free(u);
	free(out);
	return branch;
}

/* ---- state spaces ---- */

static double softplus(double x)
{
	return x > 30 ? x : log1p(exp(x));
}

/* ssm_conv1d of columns of `in`, then silu. */
static double *convolved(size_t il, const double *in, size_t n, size_t stride, size_t from, size_t width)
{
	double *u = columns(in, n, stride, from, width), *y = convolve(il, "ssm_conv1d", u, n, width);

	for (size_t i = 0; i < n * width; i++)
		y[i] *= sigmoid(y[i]);
	free(u);
	return y;
}

/* y[n][inner] times silu(z), which begins at `from` in rows of `in`; then ssm_norm in groups; then ssm_out. */
static double *leave(size_t il, double *y, const double *in, size_t n, size_t stride, size_t from)
{
	size_t inner = n_weights(&m, "blk.%zu.ssm_out.weight", il) / m.n_embd;
	double *branch;

	for (size_t t = 0; t < n; t++)
		for (size_t i = 0; i < inner; i++) {
			double z = in[t * stride + from + i];

			y[t * inner + i] *= z * sigmoid(z);
		}
	if (has(il, "ssm_norm"))
		norm_in_place(part(il, "ssm_norm"), y, n * m.n_state_groups, inner / m.n_state_groups);
	branch = linear(part(il, "ssm_out"), y, n, inner, m.n_embd);
	free(y);
	return branch;
}

double *mamba2(size_t il, const double *x, size_t n)
{
	size_t inner = n_weights(&m, "blk.%zu.ssm_out.weight", il) / m.n_embd;
	size_t heads = n_weights(&m, "blk.%zu.ssm_dt.bias", il), channels = n_weights(&m, "blk.%zu.ssm_conv1d.bias", il);
	size_t keys = (channels - inner) / 2 / m.n_state_groups, values = inner / heads;
	size_t stride = inner + channels + heads;
	double *in = linear(part(il, "ssm_in"), x, n, m.n_embd, stride), *y = memory(n * inner, sizeof *y);
	double *u = convolved(il, in, n, stride, inner, channels), *branch;
	float *bias = needed(il, "ssm_dt.bias", heads), *a = needed(il, "ssm_a", heads), *d = needed(il, "ssm_d", heads);

	for (size_t h = 0; h < heads; h++) {
		double *state = memory(values * keys, sizeof *state);
		size_t group = h / (heads / m.n_state_groups);

		for (size_t t = 0; t < n; t++) {
			const double *v = u + t * channels + h * values, *b = u + t * channels + inner + group * keys;
			const double *c = b + m.n_state_groups * keys;
			double dt = softplus(in[t * stride + inner + channels + h] + bias[h]);

			for (size_t p = 0; p < values; p++) {
				double sum = d[h] * v[p], *s = state + p * keys;

				for (size_t i = 0; i < keys; i++) {
					s[i] = exp(dt * a[h]) * s[i] + dt * v[p] * b[i];
					sum += s[i] * c[i];
				}
				y[t * inner + h * values + p] = sum;
			}
		}
		free(state);
	}
	branch = leave(il, y, in, n, stride, 0);
	free(in);
	free(u);
	free(bias);
	free(a);
	free(d);
	return branch;
}

/* Columns of x, normed where the layer or the model says so. */
static double *normed_columns(size_t il, const char *norm, const double *x, size_t n, const size_t sizes[3])
{
	double *y = columns(x, n, sizes[0], sizes[1], sizes[2]);

	if (has(il, norm))
		norm_in_place(part(il, norm), y, n, sizes[2]);
	else if (m.norms_state)
		norm_rows(y, n, sizes[2], NULL, NULL, 1);
	return y;
}

/* A decay for each channel and state. */
double *mamba(size_t il, const double *x, size_t n)
{
	size_t inner = n_weights(&m, "blk.%zu.ssm_d", il), rank = n_weights(&m, "blk.%zu.ssm_dt.weight", il) / inner;
	size_t states = n_weights(&m, "blk.%zu.ssm_a", il) / inner, all = rank + 2 * states;
	double *in = linear(part(il, "ssm_in"), x, n, m.n_embd, 2 * inner), *y = memory(n * inner, sizeof *y);
	double *u = convolved(il, in, n, 2 * inner, 0, inner), *low = linear(part(il, "ssm_x"), u, n, inner, all);
	double *r = normed_columns(il, "ssm_dt_norm", low, n, (size_t[]){ all, 0, rank });
	double *b = normed_columns(il, "ssm_b_norm", low, n, (size_t[]){ all, rank, states });
	double *c = normed_columns(il, "ssm_c_norm", low, n, (size_t[]){ all, rank + states, states });
	double *dt = linear(part(il, "ssm_dt"), r, n, rank, inner), *branch;
	float *a = needed(il, "ssm_a", inner * states), *d = needed(il, "ssm_d", inner);

	for (size_t i = 0; i < inner; i++) {
		double *s = memory(states, sizeof *s);

		for (size_t t = 0; t < n; t++) {
			double step = softplus(dt[t * inner + i]), v = u[t * inner + i], sum = d[i] * v;

			for (size_t j = 0; j < states; j++) {
				s[j] = exp(step * a[i * states + j]) * s[j] + step * v * b[t * states + j];
				sum += s[j] * c[t * states + j];
			}
			y[t * inner + i] = sum;
		}
		free(s);
	}
	branch = leave(il, y, in, n, 2 * inner, inner);
	free(in);
	free(u);
	free(low);
	free(r);
	free(b);
	free(c);
	free(dt);
	free(a);
	free(d);
	return branch;
}
