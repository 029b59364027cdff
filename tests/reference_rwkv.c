/* reference_rwkv: RWKV 7 (Peng et al. 2025), position by position. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x + weight[width] · (the row before - x) */
static double *shifted(const double *x, size_t n, const float *weight)
{
	size_t width = m.n_embd;
	double *y = copy(x, n * width);

	for (size_t i = 0; i < n * width; i++)
		y[i] += weight[i % width] * ((i < width ? 0 : x[i - width]) - x[i]);
	return y;
}

/* y = second · f(first · x), plus time_mix_?0 where there is one; first and second are time_mix_?1 and ?2. */
static double *low_rank(size_t il, char name, const double *x, size_t n, double f(double))
{
	char part_of[] = "time_mix_?1";
	size_t rank, width = m.n_embd;
	double *low, *y;
	float *bias;

	part_of[9] = name;
	rank = n_weights(&m, "%s.weight", part(il, part_of)) / width;
	low = linear(part(il, part_of), x, n, width, rank);
	for (size_t i = 0; i < n * rank && f; i++)
		low[i] = f(low[i]);
	part_of[10] = '2';
	y = linear(part(il, part_of), low, n, rank, width);
	part_of[10] = '0';
	bias = weights(&m, width, "%s.weight", part(il, part_of));
	for (size_t i = 0; i < n * width && bias; i++)
		y[i] += bias[i % width];
	free(bias);
	free(low);
	return y;
}

/* What a layer makes of its shifted rows: [n][n_embd] each. */
struct time_mix {
	double *r, *w, *k, *v, *a, *g;
	float *k_k, *k_a, *r_k;
};

static struct time_mix parts_of(size_t il, const double *x, size_t n)
{
	float *lerp = needed(il, "time_mix_lerp_fused.weight", 6 * m.n_embd);
	double *in[6];
	struct time_mix t;

	for (size_t i = 0; i < 6; i++)
		in[i] = shifted(x, n, lerp + i * m.n_embd);
	t.r = linear(part(il, "time_mix_receptance"), in[0], n, m.n_embd, m.n_embd);
	t.w = low_rank(il, 'w', in[1], n, tanh);
	t.k = linear(part(il, "time_mix_key"), in[2], n, m.n_embd, m.n_embd);
	t.v = linear(part(il, "time_mix_value"), in[3], n, m.n_embd, m.n_embd);
	t.a = low_rank(il, 'a', in[4], n, NULL);
	t.g = low_rank(il, 'g', in[5], n, sigmoid);
	if (il == 0) {
		free(m.first_values);
		m.first_values = copy(t.v, n * m.n_embd);
	} else {
		double *share = low_rank(il, 'v', in[3], n, NULL);

		for (size_t i = 0; i < n * m.n_embd; i++)
			t.v[i] += (m.first_values[i] - t.v[i]) * sigmoid(share[i]);
		free(share);
	}
	t.k_k = needed(il, "time_mix_k_k.weight", m.n_embd);
	t.k_a = needed(il, "time_mix_k_a.weight", m.n_embd);
	t.r_k = needed(il, "time_mix_r_k.weight", m.n_embd);
	for (size_t i = 0; i < 6; i++)
		free(in[i]);
	free(lerp);
	return t;
}

/* One row of a head of d elements, which begin at i in rows and at c in weights; state: [d values][d keys]. Leaves in
 * out the state's result, and in *bonus the factor of v. */
static void step(const struct time_mix *t, size_t i, size_t c, size_t d, double *state, double *out, double *bonus)
{
	double *kk = memory(d, sizeof *kk), *k = memory(d, sizeof *k), square = 1e-12;

	*bonus = 0;
	for (size_t j = 0; j < d; j++) {
		kk[j] = t->k[i + j] * t->k_k[c + j];
		square += kk[j] * kk[j];
		k[j] = t->k[i + j] * (1 + (sigmoid(t->a[i + j]) - 1) * t->k_a[c + j]);
		*bonus += t->r[i + j] * k[j] * t->r_k[c + j];
	}
	for (size_t e = 0; e < d; e++) {
		double *s = state + e * d, read = 0;

		for (size_t j = 0; j < d; j++)
			read += s[j] * kk[j] / sqrt(square);
		out[e] = 0;
		for (size_t j = 0; j < d; j++) {
			s[j] = s[j] * exp(-0.606531 * sigmoid(t->w[i + j])) + t->v[i + e] * k[j]
				- read * kk[j] / sqrt(square) * sigmoid(t->a[i + j]);
			out[e] += s[j] * t->r[i + j];
		}
	}
	free(kk);
	free(k);
}

double *time_mix(size_t il, const double *x, size_t n)
{
	struct time_mix t = parts_of(il, x, n);
	size_t width = m.n_embd, d = m.wkv_head;
	double *out = memory(n * width, sizeof *out), *state = memory(width * d, sizeof *state), *branch, eps = m.eps;
	double *bonus = memory(n * width / d, sizeof *bonus);
	float *weight = needed(il, "time_mix_ln.weight", width);
	float *bias = weights(&m, width, "blk.%zu.time_mix_ln.bias", il);

	for (size_t i = 0; i < n * width; i += d)
		step(&t, i, i % width, d, state + i % width * d, out + i, &bonus[i / d]);
	m.eps = 64e-5;
	norm_rows(out, n * width / d, d, weight, NULL, width / d);
	m.eps = eps;
	for (size_t i = 0; i < n * width; i++) {
		out[i] += bias ? bias[i % width] : 0;
		out[i] = (out[i] + t.v[i] * bonus[i / d]) * t.g[i];
	}
	branch = linear(part(il, "time_mix_output"), out, n, width, width);
	for (size_t i = 0; i < 9; i++)
		free(((void *[]){ t.r, t.w, t.k, t.v, t.a, t.g, t.k_k, t.k_a, t.r_k })[i]);
	free(out);
	free(state);
	free(bonus);
	free(weight);
	free(bias);
	return branch;
}

double *channel_mix(size_t il, const double *x, size_t n)
{
	float *lerp = needed(il, "channel_mix_lerp_k.weight", m.n_embd);
	double *in = shifted(x, n, lerp), *k = linear(part(il, "channel_mix_key"), in, n, m.n_embd, m.n_ff), *branch;

	for (size_t i = 0; i < n * m.n_ff; i++)
		k[i] = fmax(k[i], 0) * fmax(k[i], 0);
	branch = linear(part(il, "channel_mix_value"), k, n, m.n_ff, m.n_embd);
	free(lerp);
	free(in);
	free(k);
	return branch;
}
