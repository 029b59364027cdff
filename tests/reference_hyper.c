/* reference_hyper: hyper-connections (Zhu et al. 2024) of several residual streams. */
#include "reference_parts.h"

#include <stdlib.h>
#include <string.h>

/* Returns mix · scale + base, [n][mixes], from streams[m.n_streams][n][n_embd] and the tensors PREFIX_*. There are
 * three scales: for the first n_streams columns, the next n_streams, and all others. */
static double *mixes_of(const char *prefix, const double *streams, size_t n, size_t mixes)
{
	size_t k = m.n_streams, all = k * m.n_embd, scales = n_weights(&m, "%s_scale.weight", prefix);
	float *fn = weights(&m, mixes * all, "%s_fn.weight", prefix);
	float *scale = weights(&m, scales, "%s_scale.weight", prefix);
	float *base = weights(&m, mixes, "%s_base.weight", prefix);
	double *rows = memory(n * all, sizeof *rows), *y = memory(n * mixes, sizeof *y);

	if (!fn || !scale || !base)
		die("%s_*: missing", prefix);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < k; j++)
			memcpy(rows + i * all + j * m.n_embd, streams + (j * n + i) * m.n_embd,
				m.n_embd * sizeof *rows);
	bare_norm_rows(rows, n, all);
	product(y, fn, NULL, rows, n, all, mixes);
	for (size_t i = 0; i < n * mixes; i++) {
		size_t j = i % mixes;

		y[i] = y[i] * scale[j < 2 * k ? j / k : 2] + base[j];
	}
	free(fn);
	free(scale);
	free(base);
	free(rows);
	return y;
}

/* Returns [n][m.n_streams], a weight for each stream: for reading it (share 0) or for adding a branch to it (share
 * 1). */
static double *stream_weights(const char *prefix, const double *streams, size_t n, size_t share)
{
	size_t k = m.n_streams, mixes = n_weights(&m, "%s_base.weight", prefix);
	double *all = mixes_of(prefix, streams, n, mixes), *y = columns(all, n, mixes, share * k, k);

	for (size_t i = 0; i < n * k; i++)
		y[i] = sigmoid(y[i]) * (share ? m.magnitude : 1) + (share && m.rounds ? 0 : m.hyper_eps);
	free(all);
	return y;
}

/* Divides each row, or each column, of a matrix [n][n] by its sum. */
static void divide(double *c, size_t n, int columns)
{
	for (size_t i = 0; i < n; i++) {
		double sum = m.hyper_eps;

		for (size_t j = 0; j < n; j++)
			sum += columns ? c[j * n + i] : c[i * n + j];
		for (size_t j = 0; j < n; j++)
			c[columns ? j * n + i : i * n + j] /= sum;
	}
}

/* Replaces the streams by their products with the mixing matrix. */
static void mix_streams(const char *prefix, double *streams, size_t n)
{
	size_t k = m.n_streams, mixes = n_weights(&m, "%s_base.weight", prefix), size = n * m.n_embd;
	double *all = mixes_of(prefix, streams, n, mixes), *before = copy(streams, k * size);

	memset(streams, 0, k * size * sizeof *streams);
	for (size_t i = 0; i < n; i++) {
		double *c = all + i * mixes + 2 * k;

		for (size_t from = 0; from < k; from++)
			softmax(c + from * k, k);
		for (size_t j = 0; j < k * k; j++)
			c[j] += m.hyper_eps;
		divide(c, k, 1);
		for (size_t round = 1; round < m.rounds; round++) {
			divide(c, k, 0);
			divide(c, k, 1);
		}
		for (size_t j = 0; j < k * k; j++)
			for (size_t e = i * m.n_embd; e < (i + 1) * m.n_embd; e++)
				streams[j % k * size + e] += c[j] * before[j / k * size + e];
	}
	free(all);
	free(before);
}

/* Returns the weighted sum of the streams, [n][n_embd]. */
static double *gathered(const char *prefix, const double *streams, size_t n)
{
	size_t k = m.n_streams, size = n * m.n_embd;
	double *weight = stream_weights(prefix, streams, n, 0), *x = memory(size, sizeof *x);

	for (size_t j = 0; j < k; j++)
		for (size_t i = 0; i < size; i++)
			x[i] += weight[i / m.n_embd * k + j] * streams[j * size + i];
	free(weight);
	return x;
}

/* Adds the branch to each stream, times its weight. Frees branch and weight. */
static void scatter(const char *prefix, double *streams, double *weight, double *branch, size_t n)
{
	size_t k = m.n_streams, size = n * m.n_embd;

	if (m.rounds)
		mix_streams(prefix, streams, n);
	for (size_t j = 0; j < k; j++)
		for (size_t i = 0; i < size; i++)
			streams[j * size + i] += weight[i / m.n_embd * k + j] * branch[i];
	free(weight);
	free(branch);
}

double *hyper_streams(const double *x, size_t n)
{
	size_t size = n * m.n_embd;
	double *streams = memory(m.n_streams * size, sizeof *streams);

	for (size_t j = 0; j < m.n_streams; j++)
		memcpy(streams + j * size, x, size * sizeof *x);
	return streams;
}

void hyper_layer(size_t il, double *streams, size_t n)
{
	char prefix[64];
	double *weight, *h;

	strcpy(prefix, part(il, "hc_attn"));
	weight = stream_weights(prefix, streams, n, 1);
	h = gathered(prefix, streams, n);
	norm_in_place(part(il, "attn_norm"), h, n, m.n_embd);
	scatter(prefix, streams, weight, (has(il, "ssm_f_a") ? kda : attention_part)(il, h, n), n);
	free(h);
	strcpy(prefix, part(il, "hc_ffn"));
	weight = stream_weights(prefix, streams, n, 1);
	h = gathered(prefix, streams, n);
	norm_in_place(part(il, "ffn_norm"), h, n, m.n_embd);
	scatter(prefix, streams, weight, feed_forward_part(il, h, h, n), n);
	free(h);
}

double *hyper_united(double *streams, size_t n)
{
	size_t size = n * m.n_embd;
	double *x;

	if (n_weights(&m, "output_hc_fn.weight"))
		x = gathered("output_hc", streams, n);
	else {
		x = copy(streams, size);
		for (size_t i = size; i < m.n_streams * size; i++)
			x[i % size] += streams[i];
		for (size_t i = 0; i < size; i++)
			x[i] /= (double)m.n_streams;
	}
	free(streams);
	return x;
}
