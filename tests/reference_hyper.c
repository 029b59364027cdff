/* reference_hyper: hyper-connections (Zhu et al. 2024) of several residual streams. */
#include "reference_parts.h"

#include <stdlib.h>
#include <string.h>

/* [n][m.n_streams]: the weights of streams[m.n_streams][n][n_embd] that tensors PREFIX_* give: share 0 to read them,
 * share 1 to update them. */
static double *stream_weights(const char *prefix, const double *streams, size_t n, size_t share)
{
	size_t k = m.n_streams, all = k * m.n_embd, shares = n_weights(&m, "%s_scale.weight", prefix);
	float *fn = weights(&m, shares * k * all, "%s_fn.weight", prefix);
	float *scale = weights(&m, shares, "%s_scale.weight", prefix);
	float *base = weights(&m, shares * k, "%s_base.weight", prefix);
	double *rows = memory(n * all, sizeof *rows), *y = memory(n * k, sizeof *y);

	if (!fn || !scale || !base)
		die("%s_*: missing", prefix);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < k; j++)
			memcpy(rows + i * all + j * m.n_embd, streams + (j * n + i) * m.n_embd,
				m.n_embd * sizeof *rows);
	bare_norm_rows(rows, n, all);
	product(y, fn + share * k * all, NULL, rows, n, all, k);
	for (size_t i = 0; i < n * k; i++)
		y[i] = sigmoid(y[i] * scale[share] + base[share * k + i % k]) * (share ? m.magnitude : 1) + m.hyper_eps;
	free(fn);
	free(scale);
	free(base);
	free(rows);
	return y;
}

/* [n][n_embd]: their weighted sum */
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

/* Adds the weighted branch to each, and frees it and the weights. */
static void scatter(double *streams, double *weight, double *branch, size_t n)
{
	size_t k = m.n_streams, size = n * m.n_embd;

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
	scatter(streams, weight, attention_part(il, h, n), n);
	free(h);
	strcpy(prefix, part(il, "hc_ffn"));
	weight = stream_weights(prefix, streams, n, 1);
	h = gathered(prefix, streams, n);
	norm_in_place(part(il, "ffn_norm"), h, n, m.n_embd);
	scatter(streams, weight, feed_forward_part(il, h, h, n), n);
	free(h);
}

double *hyper_united(double *streams, size_t n)
{
	double *x = gathered("output_hc", streams, n);

	free(streams);
	return x;
}
