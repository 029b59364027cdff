/* reference_rwkv: RWKV 6 and 7 (Peng et al. 2024, 2025), position by position. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x + weight[width] · (the row before x - x) */
static double *shifted(const double *x, size_t n, const float *weight)
{
	size_t width = m.n_embd;
	double *y = copy(x, n * width);

	for (size_t i = 0; i < n * width; i++)
		y[i] += weight[i % width] * ((i < width ? 0 : x[i - width]) - x[i]);
	return y;
}

/* second · f(first · x) + time_mix_?0, if there is one; first is time_mix_?1, second time_mix_?2, and ? is `name`. */
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

/* The inputs of the recurrence, [n][n_embd] each. */
struct time_mix {
	double *r, *w, *k, *v, *a, *g;
	float *k_k, *k_a, *r_k;
};

static struct time_mix parts_of(size_t il, const double *x, size_t n)
{
	size_t parts = has(il, "time_mix_g1") ? 6 : 5;
	float *lerp = needed(il, "time_mix_lerp_fused.weight", parts * m.n_embd);
	double *in[6] = { NULL };
	struct time_mix t;

	for (size_t i = 0; i < parts; i++)
		in[i] = shifted(x, n, lerp + i * m.n_embd);
	t.r = linear(part(il, "time_mix_receptance"), in[0], n, m.n_embd, m.n_embd);
	t.w = low_rank(il, 'w', in[1], n, tanh);
	t.k = linear(part(il, "time_mix_key"), in[2], n, m.n_embd, m.n_embd);
	t.v = linear(part(il, "time_mix_value"), in[3], n, m.n_embd, m.n_embd);
	t.a = low_rank(il, 'a', in[4], n, NULL);
	t.g = in[5] ? low_rank(il, 'g', in[5], n, sigmoid) : NULL;
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

/* One position of one head. The head's d elements start at i in rows and at c in weights; state is [d values][d keys].
 * out[d] = state · r; the caller adds *bonus · v. */
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
	float *weight = weights(&m, width, "blk.%zu.time_mix_ln.weight", il);
	float *bias = weights(&m, width, "blk.%zu.time_mix_ln.bias", il);

	for (size_t i = 0; i < n * width; i += d)
		step(&t, i, i % width, d, state + i % width * d, out + i, &bonus[i / d]);
	m.eps = 64e-5;
	if (weight)
		norm_rows(out, n * width / d, d, weight, NULL, width / d);
	m.eps = eps;
	for (size_t i = 0; i < n * width; i++) {
		out[i] += bias ? bias[i % width] : 0;
		out[i] = (out[i] + t.v[i] * bonus[i / d]) * (t.g ? t.g[i] : 1);
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

/* ---- RWKV 6 ---- */

/* The shifted input of part i of 5; how much of the row before it takes in depends on the row itself. */
static double *mixed(size_t il, const double *x, size_t n, size_t i)
{
	size_t width = m.n_embd, rank = n_weights(&m, "blk.%zu.time_mix_w1.weight", il) / width / 5;
	float *lerp = needed(il, "time_mix_lerp_x.weight", width);
	float *all = needed(il, "time_mix_lerp_fused.weight", 5 * width);
	float *second = needed(il, "time_mix_w2.weight", 5 * width * rank);
	double *first = shifted(x, n, lerp), *low = linear(part(il, "time_mix_w1"), first, n, width, 5 * rank);
	double *own = columns(low, n, 5 * rank, i * rank, rank), *y = memory(n * width, sizeof *y);

	for (size_t j = 0; j < n * rank; j++)
		own[j] = tanh(own[j]);
	product(y, second + i * width * rank, NULL, own, n, rank, width);
	for (size_t j = 0; j < n * width; j++)
		y[j] = x[j] + (all[i * width + j % width] + y[j]) * ((j < width ? 0 : x[j - width]) - x[j]);
	free(lerp);
	free(all);
	free(second);
	free(first);
	free(low);
	free(own);
	return y;
}

/* The product of part i. If the matrix has fewer heads, each is copied to the heads of its group. */
static double *matrix_of(size_t il, const char *name, const double *x, size_t n, size_t i)
{
	size_t width = m.n_embd, d = m.wkv_head, rows = n_weights(&m, "blk.%zu.%s.weight", il, name) / width;
	double *in = mixed(il, x, n, i), *y = linear(part(il, name), in, n, width, rows);
	double *all = memory(n * width, sizeof *all);

	for (size_t j = 0; j < n * width; j++)
		all[j] = y[j / width * rows + j % width / d / (width / rows) * d + j % d];
	free(in);
	free(y);
	return all;
}

/* Decays: e^(-e^w). */
static double *decays(size_t il, const double *x, size_t n)
{
	size_t width = m.n_embd, rank = n_weights(&m, "blk.%zu.time_mix_decay_w1.weight", il) / width;
	double *in = mixed(il, x, n, 0), *low = linear(part(il, "time_mix_decay_w1"), in, n, width, rank), *w;
	float *bias = needed(il, "time_mix_decay.weight", width);

	for (size_t i = 0; i < n * rank; i++)
		low[i] = tanh(low[i]);
	w = linear(part(il, "time_mix_decay_w2"), low, n, rank, width);
	for (size_t i = 0; i < n * width; i++)
		w[i] = exp(-exp(w[i] + bias[i % width]));
	free(in);
	free(low);
	free(bias);
	return w;
}

/* out[n][...]: one head of d elements, from column c, for rows r, w, k and v. With `bonus`, out reads the state before
 * the row plus bonus · k · v; without, keys are multiplied by 1 - w, and out reads the updated state, divided by √d. */
static void head6(double *const rows[4], const float *bonus, size_t n, size_t c, double *out)
{
	size_t d = m.wkv_head, width = m.n_embd;
	double *s = memory(d * d, sizeof *s);

	for (size_t t = c; t < n * width; t += width)
		for (size_t e = 0; e < d; e++)
			for (size_t j = 0; j < d; j++) {
				double r = rows[0][t + j], w = rows[1][t + j], k = rows[2][t + j], v = rows[3][t + e];
				double before = s[j * d + e];

				k *= bonus ? 1 : 1 - w;
				s[j * d + e] = w * before + k * v;
				out[t + e] += bonus ? r * (before + bonus[c + j] * k * v)
					: r * s[j * d + e] / sqrt((double)d);
			}
	free(s);
}

double *time_mix6(size_t il, const double *x, size_t n)
{
	size_t width = m.n_embd, d = m.wkv_head;
	double *rows[4] = { matrix_of(il, "time_mix_receptance", x, n, 3), decays(il, x, n),
		matrix_of(il, "time_mix_key", x, n, 1), matrix_of(il, "time_mix_value", x, n, 2) };
	double *g = matrix_of(il, "time_mix_gate", x, n, 4), *out = memory(n * width, sizeof *out), *branch;
	double eps = m.eps;
	float *bonus = weights(&m, width, "blk.%zu.time_mix_first.weight", il);
	float *weight = weights(&m, width, "blk.%zu.time_mix_ln.weight", il);

	for (size_t c = 0; c < width; c += d)
		head6(rows, bonus, n, c, out);
	m.eps = 64e-5;
	if (weight) {
		float *bias = weights(&m, width, "blk.%zu.time_mix_ln.bias", il);

		norm_rows(out, n * width / d, d, weight, NULL, width / d);
		for (size_t i = 0; i < n * width && bias; i++)
			out[i] += bias[i % width];
		free(bias);
	}
	m.eps = eps;
	for (size_t i = 0; i < n * width; i++)
		out[i] *= sigmoid(g[i]) * (bonus ? g[i] : 1);
	branch = linear(part(il, "time_mix_output"), out, n, width, width);
	for (size_t i = 0; i < 4; i++)
		free(rows[i]);
	free(g);
	free(out);
	free(bonus);
	free(weight);
	return branch;
}

double *channel_mix6(size_t il, const double *x, size_t n)
{
	float *lerp = needed(il, "channel_mix_lerp_r.weight", m.n_embd);
	double *in = shifted(x, n, lerp), *r = linear(part(il, "channel_mix_receptance"), in, n, m.n_embd, m.n_embd);
	double *branch = channel_mix(il, x, n);

	for (size_t i = 0; i < n * m.n_embd; i++)
		branch[i] *= sigmoid(r[i]);
	free(lerp);
	free(in);
	free(r);
	return branch;
}
