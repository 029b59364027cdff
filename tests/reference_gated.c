/* reference_gated: hyper-connections with gates of every element, and embeddings of n-grams (Qwen 2026). streams is
 * [n_streams][n][n_embd]; rows is the same transposed, [n][n_streams · n_embd]. */
#include "reference_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *rows_of(const double *streams, size_t n)
{
	size_t k = m.n_streams, d = m.n_embd;
	double *rows = memory(n * k * d, sizeof *rows);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < k; j++)
			memcpy(rows + (i * k + j) * d, streams + (j * n + i) * d, d * sizeof *rows);
	return rows;
}

/* Norms each stream in rows with its own slice of NAME.weight. */
static void norm_streams(const char *name, double *rows, size_t n)
{
	float *weight = weights(&m, m.n_streams * m.n_embd, "%s.weight", name);

	norm_rows(rows, n * m.n_streams, m.n_embd, weight, NULL, m.n_streams);
	free(weight);
}

static double *product_of(const char *prefix, const char *what, const double *x, size_t n, size_t cols, size_t rows)
{
	float *weight = weights(&m, rows * cols, "%s_%s.weight", prefix, what);
	double *y = memory(n * rows, sizeof *y);

	if (!weight)
		die("%s_%s.weight: missing", prefix, what);
	product(y, weight, NULL, x, n, cols, rows);
	free(weight);
	return y;
}

/* Returns what a branch reads, [n][n_embd]. *inject, unless NULL, becomes the weights with which its result is added to
 * each stream, [n][n_streams]. */
static double *read_streams(const char *prefix, const double *streams, size_t n, double **inject)
{
	size_t k = m.n_streams, d = m.n_embd, all = k * d, rank = n_weights(&m, "%s_down.weight", prefix) / all;
	double *rows = rows_of(streams, n), *low, *gates, *x = memory(n * d, sizeof *x);
	char name[64];

	snprintf(name, sizeof name, "%s_norm", prefix);
	norm_streams(name, rows, n);
	low = product_of(prefix, "down", rows, n, all, rank);
	for (size_t i = 0; i < n * rank; i++)
		low[i] = low[i] / (double)k * sigmoid(low[i] / (double)k);
	gates = product_of(prefix, "up", low, n, rank, all);
	for (size_t i = 0; i < n * all; i++)
		x[i / all * d + i % d] += rows[i] * sigmoid(gates[i]) / (double)k;
	if (inject) {
		*inject = product_of(prefix, "inject", rows, n, all, k);
		for (size_t i = 0; i < n * k; i++)
			(*inject)[i] = 2 * sigmoid((*inject)[i] / (double)k);
	}
	free(rows);
	free(low);
	free(gates);
	return x;
}

static void update(double *streams, double *inject, double *branch, size_t n)
{
	size_t k = m.n_streams, size = n * m.n_embd;

	for (size_t j = 0; j < k; j++)
		for (size_t i = 0; i < size; i++)
			streams[j * size + i] += inject[i / m.n_embd * k + j] * branch[i];
	free(inject);
	free(branch);
}

/* ---- n-grams ---- */

/* The id `back` positions before row i, or ngram_end if a text ended in between or there is none. */
static uint64_t id_before(size_t i, size_t back)
{
	for (size_t j = 1; j <= back; j++)
		if (j > i || (size_t)m.ids[i - j] == m.ngram_end)
			return m.ngram_end;
	return (uint64_t)m.ids[i - back];
}

/* Returns [n][n_embd]: the rows of the table that the n-grams at each position hash to. */
static double *embeddings(size_t n)
{
	const struct gguf_value *by = reference_array(&m, "ple.layer_multipliers");
	const struct gguf_value *first = reference_array(&m, "ple.head_offsets");
	const struct gguf_value *count = reference_array(&m, "ple.head_vocab_sizes");
	size_t heads = (size_t)first->n, each = heads / (m.ngrams - 1), d = m.n_embd / heads;
	size_t all = n_weights(&m, "per_layer_token_embd.weight");
	float *table = weights(&m, all, "per_layer_token_embd.weight");
	double *x = memory(n * m.n_embd, sizeof *x);

	for (size_t i = 0; i < n; i++)
		for (size_t h = 0; h < heads; h++) {
			uint64_t hash = 0, row;

			for (size_t j = 0; j < h / each + 2; j++)
				hash ^= id_before(i, j) * (uint64_t)gguf_element_integer(by, j);
			row = hash % (uint64_t)gguf_element_integer(count, h)
				+ (uint64_t)gguf_element_integer(first, h);
			for (size_t e = 0; e < d; e++)
				x[i * m.n_embd + h * d + e] = table[row * d + e];
		}
	free(table);
	return x;
}

/* silu of a causal convolution of rows[n][all] whose taps are m.ngrams positions apart. */
static double *convolve(size_t il, const double *rows, size_t n, size_t all)
{
	size_t taps = m.ngram_taps;
	float *weight = needed(il, "ple_conv1d.weight", taps * all);
	double *y = memory(n * all, sizeof *y);

	for (size_t i = 0; i < n * all; i++) {
		for (size_t t = 0; t < taps; t++) {
			size_t back = (taps - 1 - t) * m.ngrams;

			if (back <= i / all)
				y[i] += weight[i % all * taps + t] * rows[i - back * all];
		}
		y[i] *= sigmoid(y[i]);
	}
	free(weight);
	return y;
}

static void add_ngrams(size_t il, double *streams, size_t n)
{
	size_t k = m.n_streams, d = m.n_embd, all = k * d;
	double *x = embeddings(n), *query = rows_of(streams, n), *gated, *rows, *made;
	double *key = linear(part(il, "ple_key"), x, n, d, all), *value = linear(part(il, "ple_value"), x, n, d, d);

	norm_streams(part(il, "ple_norm_key"), key, n);
	norm_streams(part(il, "ple_norm_query"), query, n);
	gated = memory(n * all, sizeof *gated);
	for (size_t i = 0; i < n * k; i++) {
		double sum = 0, root;

		for (size_t e = 0; e < d; e++)
			sum += key[i * d + e] * query[i * d + e] / sqrt((double)d);
		root = sqrt(fmax(fabs(sum), 1e-6));
		for (size_t e = 0; e < d; e++)
			gated[i * d + e] = value[i / k * d + e] * sigmoid(sum > 0 ? root : -root);
	}
	rows = copy(gated, n * all);
	norm_streams(part(il, "ple_norm_conv"), rows, n);
	made = convolve(il, rows, n, all);
	for (size_t i = 0; i < n * all; i++)
		streams[(i % all / d * n + i / all) * d + i % d] += gated[i] + made[i];
	free(x);
	free(query);
	free(gated);
	free(rows);
	free(made);
	free(key);
	free(value);
}

/* ---- layers ---- */

void gated_layer(size_t il, double *streams, size_t n)
{
	char prefix[64];
	double *inject, *h;

	if (has(il, "ple_key"))
		add_ngrams(il, streams, n);
	strcpy(prefix, part(il, "hc_attn"));
	h = read_streams(prefix, streams, n, &inject);
	update(streams, inject, (has(il, "ssm_alpha") ? delta_net : attention_part)(il, h, n), n);
	free(h);
	strcpy(prefix, part(il, "hc_ffn"));
	h = read_streams(prefix, streams, n, &inject);
	update(streams, inject, feed_forward_part(il, h, h, n), n);
	free(h);
}

double *gated_united(double *streams, size_t n)
{
	double *x = read_streams("output_hc", streams, n, NULL);

	free(streams);
	return x;
}
