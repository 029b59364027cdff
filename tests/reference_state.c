/* reference_state: mixers with recurrent state: short convolutions (Liquid AI 2025), Mamba (Gu and Dao 2023), Mamba 2
 * (Dao and Gu 2024), gated delta nets (Yang et al. 2024). They go position by position, as the papers define them. */
#include "reference_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Causal convolution of each channel of x[n][width], by WHAT.weight[width][taps] and WHAT.bias, if there is one. */
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

/* A gated convolution: C · conv(B · X). */
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

/* silu of the convolution of columns of `in`. */
static double *convolved_by(size_t il, const char *what, const double *in, size_t n, size_t stride, size_t from,
	size_t width)
{
	double *u = columns(in, n, stride, from, width), *y = convolve(il, what, u, n, width);

	for (size_t i = 0; i < n * width; i++)
		y[i] *= sigmoid(y[i]);
	free(u);
	return y;
}

static double *convolved(size_t il, const double *in, size_t n, size_t stride, size_t from, size_t width)
{
	return convolved_by(il, "ssm_conv1d", in, n, stride, from, width);
}

/* y[n][inner] · silu(z), where z starts at column `from` of `in`; then ssm_norm by groups, then ssm_out. */
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
	size_t heads = n_weights(&m, "blk.%zu.ssm_dt.bias", il);
	size_t channels = n_weights(&m, "blk.%zu.ssm_conv1d.bias", il);
	size_t keys = (channels - inner) / 2 / m.n_state_groups, values = inner / heads;
	size_t stride = inner + channels + heads;
	double *in = linear(part(il, "ssm_in"), x, n, m.n_embd, stride), *y = memory(n * inner, sizeof *y);
	double *u = convolved(il, in, n, stride, inner, channels), *branch;
	float *bias = needed(il, "ssm_dt.bias", heads), *a = needed(il, "ssm_a", heads);
	float *d = needed(il, "ssm_d", heads);

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

/* ---- gated delta nets (Yang et al. 2024) ---- */

/* q, k and v of all heads into u[n][channels], their gates into z[n][inner]. Older files have all four in ssm_in, by
 * key head: q, k, then v and the gates of its value heads. */
static void delta_rows(size_t il, const double *x, size_t n, double *u, double *z, size_t dim, size_t inner)
{
	size_t groups = m.n_state_groups, values = inner / groups, each = 2 * (dim + values);
	size_t channels = 2 * groups * dim + inner;
	double *a, *b;

	if (!has(il, "ssm_in")) {
		a = linear(part(il, "attn_qkv"), x, n, m.n_embd, channels);
		b = linear(part(il, "attn_gate"), x, n, m.n_embd, inner);
		memcpy(u, a, n * channels * sizeof *u);
		memcpy(z, b, n * inner * sizeof *z);
		free(a);
		free(b);
		return;
	}
	a = linear(part(il, "ssm_in"), x, n, m.n_embd, groups * each);
	for (size_t i = 0; i < n * groups; i++) {
		double *row = u + i / groups * channels;
		size_t g = i % groups;

		memcpy(row + g * dim, a + i * each, dim * sizeof *u);
		memcpy(row + (groups + g) * dim, a + i * each + dim, dim * sizeof *u);
		memcpy(row + 2 * groups * dim + g * values, a + i * each + 2 * dim, values * sizeof *u);
		memcpy(z + i * values, a + i * each + 2 * dim + values, values * sizeof *u);
	}
	free(a);
}

static double *low_rank(size_t il, const char *first, const char *second, const double *x, size_t n, size_t rank,
	size_t width)
{
	double *low, *y;

	if (!has(il, second))
		return linear(part(il, first), x, n, m.n_embd, width);
	low = linear(part(il, first), x, n, m.n_embd, rank);
	y = linear(part(il, second), low, n, rank, width);
	free(low);
	return y;
}

/* beta and alpha, [n][heads]: the factor of the error, and the input of the decay. They are columns of separate tensors
 * or, in ssm_ba, side by side for each key head's value heads. A head may have `decays` decays, one for each key
 * element. */
static void delta_gates(size_t il, const double *x, size_t n, size_t heads, size_t decays, double *beta, double *alpha)
{
	size_t each = heads / m.n_state_groups, rank = n_weights(&m, "blk.%zu.ssm_f_a.weight", il) / m.n_embd;
	int fused = has(il, "ssm_ba");
	double *b = linear(part(il, fused ? "ssm_ba" : "ssm_beta"), x, n, m.n_embd, fused ? 2 * heads : heads);
	double *a = fused ? NULL : low_rank(il, rank ? "ssm_f_a" : "ssm_alpha", "ssm_f_b", x, n, rank, decays);

	for (size_t i = 0; i < n * heads; i++)
		beta[i] = sigmoid(fused ? b[i / each * 2 * each + i % each] : b[i]);
	for (size_t i = 0; i < n * decays; i++)
		alpha[i] = fused ? b[i / each * 2 * each + each + i % each] : a[i];
	free(a);
	free(b);
}

static void to_length_one(double *x, size_t n)
{
	double sum = m.unit_eps > 0 ? m.unit_eps : m.eps;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	for (size_t i = 0; i < n; i++)
		x[i] /= sqrt(sum);
}

/* One position of a head with state s[dim keys][dim values]; the decay of key element i is decay[i mod decays]. */
static void delta_rule(double *s, size_t dim, const double *const qkv[3], const double *decay, size_t decays,
	double beta, double *y)
{
	const double *q = qkv[0], *k = qkv[1];

	for (size_t j = 0; j < dim; j++) {
		double error = qkv[2][j];

		for (size_t i = 0; i < dim; i++)
			error -= k[i] * (s[i * dim + j] *= decay[i % decays]);
		for (size_t i = 0; i < dim; i++) {
			s[i * dim + j] += k[i] * beta * error;
			y[j] += q[i] * s[i * dim + j] / sqrt((double)dim);
		}
	}
}

double *delta_net(size_t il, const double *x, size_t n)
{
	size_t heads = n_weights(&m, "blk.%zu.ssm_a", il), dim = n_weights(&m, "blk.%zu.ssm_norm.weight", il);
	size_t decays = n_weights(&m, "blk.%zu.ssm_dt.bias", il), each = decays / heads;
	size_t groups = m.n_state_groups, inner = heads * dim, channels = 2 * groups * dim + inner;
	double *raw = memory(n * channels, sizeof *raw), *z = memory(n * inner, sizeof *z);
	double *beta = memory(n * heads, sizeof *beta), *alpha = memory(n * decays, sizeof *alpha);
	double *y = memory(n * inner, sizeof *y), *u, *branch;
	float *bias = needed(il, "ssm_dt.bias", decays), *a = needed(il, "ssm_a", heads);

	delta_rows(il, x, n, raw, z, dim, inner);
	delta_gates(il, x, n, heads, decays, beta, alpha);
	for (size_t i = 0; i < n * decays; i++)
		alpha[i] = exp(a[i % decays / each] * softplus(alpha[i] + bias[i % decays]));
	u = convolved(il, raw, n, channels, 0, channels);
	for (size_t i = 0; i < n * 2 * groups; i++)
		to_length_one(u + i / (2 * groups) * channels + i % (2 * groups) * dim, dim);
	for (size_t h = 0; h < heads; h++) {
		double *s = memory(dim * dim, sizeof *s);
		size_t g = m.rules->tiled_heads ? h % groups : h / (heads / groups);

		for (size_t t = 0; t < n; t++) {
			const double *q = u + t * channels + g * dim, *v = u + t * channels + (2 * groups + h) * dim;

			delta_rule(s, dim, (const double *[]){ q, q + groups * dim, v }, alpha + t * decays + h * each,
				each, beta[t * heads + h], y + t * inner + h * dim);
		}
		free(s);
	}
	norm_in_place(part(il, "ssm_norm"), y, n * heads, dim);
	for (size_t i = 0; i < n * inner; i++)
		y[i] *= (m.gated_streams ? 1 : z[i]) * sigmoid(z[i]);
	branch = linear(part(il, "ssm_out"), y, n, inner, m.n_embd);
	free(raw);
	free(z);
	free(beta);
	free(alpha);
	free(y);
	free(u);
	free(bias);
	free(a);
	return branch;
}

/* ---- Kimi delta attention (Moonshot 2025): a decay for each key ---- */

/* Tensor WHAT times x[n][n_embd], through its convolution; heads of q and k are scaled to length 1. */
static double *kda_rows(size_t il, const char *what, const double *x, size_t n, size_t width, size_t dim)
{
	char conv[32];
	double *in = linear(part(il, what), x, n, m.n_embd, width), *y;

	snprintf(conv, sizeof conv, "ssm_conv1d_%s", what + 5);
	y = convolved_by(il, conv, in, n, width, 0, width);
	for (size_t i = 0; i < n * width / dim && strcmp(what, "attn_v"); i++)
		to_length_one(y + i * dim, dim);
	free(in);
	return y;
}

static double kda_decay(double x, double a)
{
	if (m.least_decay < 0)
		return exp(m.least_decay * sigmoid((m.negative_rates ? -a : a) * x));
	return exp(a * softplus(x));
}

double *kda(size_t il, const double *x, size_t n)
{
	size_t dim = n_weights(&m, "blk.%zu.ssm_norm.weight", il), inner = n_weights(&m, "blk.%zu.ssm_dt.bias", il);
	size_t heads = inner / dim;
	double *q = kda_rows(il, "attn_q", x, n, inner, dim), *k = kda_rows(il, "attn_k", x, n, inner, dim);
	double *v = kda_rows(il, "attn_v", x, n, inner, dim), *y = memory(n * inner, sizeof *y);
	double *decay = low_rank(il, "ssm_f_a", "ssm_f_b", x, n, dim, inner), *branch;
	double *gate = low_rank(il, has(il, "ssm_g") ? "ssm_g" : "ssm_g_a", "ssm_g_b", x, n, dim, inner);
	double *beta = linear(part(il, "ssm_beta"), x, n, m.n_embd, heads);
	float *bias = needed(il, "ssm_dt.bias", inner), *a = needed(il, "ssm_a", heads);

	for (size_t i = 0; i < n * inner; i++)
		decay[i] = kda_decay(decay[i] + bias[i % inner], a[i % inner / dim]);
	for (size_t h = 0; h < heads; h++) {
		double *s = memory(dim * dim, sizeof *s);

		for (size_t t = 0; t < n; t++) {
			size_t at = t * inner + h * dim;

			delta_rule(s, dim, (const double *[]){ q + at, k + at, v + at }, decay + at, dim,
				sigmoid(beta[t * heads + h]), y + at);
		}
		free(s);
	}
	norm_in_place(part(il, "ssm_norm"), y, n * heads, dim);
	for (size_t i = 0; i < n * inner; i++)
		y[i] *= sigmoid(gate[i]);
	branch = linear(part(il, "attn_output"), y, n, inner, m.n_embd);
	free(q), free(k), free(v), free(y), free(decay), free(gate), free(beta);
	free(bias), free(a);
	return branch;
}

/* Lightning attention (Qin et al. 2024). attn_qkv has q, k and v of the first head, then those of the next. */
double *lightning(size_t il, const double *x, size_t n)
{
	size_t dim = m.head_dim, inner = m.n_head * dim;
	double *qkv = linear(part(il, "attn_qkv"), x, n, m.n_embd, 3 * inner), *y = memory(n * inner, sizeof *y);
	double *gate = linear(part(il, "attn_gate"), x, n, m.n_embd, inner), *branch;
	double share = (m.n_layer > 1 ? 1 - (double)il / (double)(m.n_layer - 1) : 1) + 1e-5;

	for (size_t i = 0; i < n * 3 * inner; i++)
		qkv[i] *= sigmoid(qkv[i]);
	for (size_t h = 0; h < m.n_head; h++) {
		double *s = memory(dim * dim, sizeof *s), start = pow(2, -pow(2, -(log2((double)m.n_head) - 3)));
		double decay = exp(-share * pow(start, (double)(h + 1)));

		for (size_t t = 0; t < n; t++)
			for (size_t i = 0; i < dim * dim; i++) {
				const double *q = qkv + (t * m.n_head + h) * 3 * dim, *k = q + dim, *v = k + dim;

				s[i] = decay * s[i] + k[i / dim] * v[i % dim];
				y[t * inner + h * dim + i % dim] += q[i / dim] * s[i];
			}
		free(s);
	}
	norm_in_place(part(il, "attn_norm_2"), y, n, inner);
	for (size_t i = 0; i < n * inner; i++)
		y[i] *= sigmoid(gate[i]);
	branch = linear(part(il, "attn_output"), y, n, inner, m.n_embd);
	free(qkv), free(gate), free(y);
	return branch;
}

/* Columns of x, normed if the layer has this norm or the model norms them without weights. */
static double *normed_columns(size_t il, const char *norm, const double *x, size_t n, const size_t sizes[3])
{
	double *y = columns(x, n, sizes[0], sizes[1], sizes[2]);

	if (has(il, norm) || n_weights(&m, "%s", part(il, norm)))
		norm_in_place(part(il, norm), y, n, sizes[2]);
	else if (m.norms_state)
		norm_rows(y, n, sizes[2], NULL, NULL, 1);
	return y;
}

/* PLaMo 2's Mamba: one decay for each head; keys, queries and time steps are computed from the convolved channels. */
double *mamba_plamo2(size_t il, const double *x, size_t n)
{
	size_t heads = n_weights(&m, "blk.%zu.ssm_d", il);
	size_t inner = n_weights(&m, "blk.%zu.ssm_out.weight", il) / m.n_embd;
	size_t states = n_weights(&m, "blk.%zu.ssm_b_norm", il), steps = n_weights(&m, "blk.%zu.ssm_dt_norm", il);
	size_t d = inner / heads, all = 2 * states + steps;
	double *in = linear(part(il, "ssm_in"), x, n, m.n_embd, 2 * inner), *y = memory(n * inner, sizeof *y), *branch;
	double *z = columns(in, n * heads, 2 * d, 0, d), *v = columns(in, n * heads, 2 * d, d, d);
	double *u = convolved(il, v, n, inner, 0, inner), *low = linear(part(il, "ssm_x"), u, n, inner, all);
	double *b = normed_columns(il, "ssm_b_norm", low, n, (size_t[]){ all, 0, states });
	double *c = normed_columns(il, "ssm_c_norm", low, n, (size_t[]){ all, states, states });
	double *r = normed_columns(il, "ssm_dt_norm", low, n, (size_t[]){ all, 2 * states, steps });
	double *dt = linear(part(il, "ssm_dt"), r, n, steps, heads), *s = memory(inner * states, sizeof *s);
	float *a = needed(il, "ssm_a", heads), *skip = needed(il, "ssm_d", heads);

	for (size_t t = 0; t < n; t++)
		for (size_t i = 0; i < inner; i++) {
			double step = softplus(dt[t * heads + i / d]), decay = exp(step * a[i / d]);
			double *o = &y[t * inner + i], *state = s + i * states;

			*o = skip[i / d] * u[t * inner + i];
			for (size_t j = 0; j < states; j++) {
				state[j] = decay * state[j] + step * u[t * inner + i] * b[t * states + j];
				*o += state[j] * c[t * states + j];
			}
		}
	branch = leave(il, y, z, n, inner, 0);
	norm_branch(il, "post_attention_norm", branch, n);
	free(in), free(z), free(v), free(u), free(low), free(b), free(c), free(r), free(dt), free(s);
	free(a), free(skip);
	return branch;
}

/* Mamba: a decay for each channel and state element. */
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
