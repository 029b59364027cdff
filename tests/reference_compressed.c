/* reference_compressed: compressed attention (DeepSeek 4), and the indexers of sparse attention. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDEXED = 4 };   /* layers with this ratio have an indexer, and their groups overlap */

/* Rotates the last n_rot elements of each head of x[n][heads][d]; row i is position i. back: rotates by -i. */
static void turn(size_t il, double *x, size_t n, size_t heads, size_t d, int back)
{
	size_t first = d - m.n_rot;
	double *end = columns(x, n * heads, d, first, m.n_rot);

	for (size_t i = 1; i < n * heads * m.n_rot && back; i += 2)
		end[i] = -end[i];
	rope(&m.layer[il], end, n, heads, m.n_rot);
	for (size_t i = 1; i < n * heads * m.n_rot && back; i += 2)
		end[i] = -end[i];
	for (size_t i = 0; i < n * heads; i++)
		memcpy(x + i * d + first, end + i * m.n_rot, m.n_rot * sizeof *x);
	free(end);
}

/* Element e of the compressed row of a group: a softmax-weighted sum over its rows. With overlapping groups, rows have
 * two halves, and the sum is also over the first halves of the rows of the group before. */
static double compressed(size_t il, const double *value, const double *score, const float *places, size_t group,
	size_t d, size_t e)
{
	size_t ratio = m.layer[il].ratio, halves = ratio == INDEXED ? 2 : 1, width = halves * d, n = 0;
	double s[256], v[256], sum = 0;

	for (size_t half = 0; half < halves; half++)
		for (size_t j = 0; j < ratio; j++) {
			size_t row = group * ratio + j - (halves - 1 - half) * ratio, at = half * d + e;

			if (half + 1 < halves && !group)
				continue;
			s[n] = score[row * width + at] + places[j * width + at];
			v[n++] = value[row * width + at];
		}
	softmax(s, n);
	for (size_t j = 0; j < n; j++)
		sum += s[j] * v[j];
	return sum;
}

/* Returns [n / ratio][d], the compressed rows of x, by the tensors PREFIX_*. */
static double *compress(size_t il, const char *prefix, const double *x, size_t n, size_t d)
{
	size_t ratio = m.layer[il].ratio, width = ratio == INDEXED ? 2 * d : d, groups = n / ratio;
	char name[64];
	double *value, *score, *y = memory(n * d, sizeof *y);
	float *places = weights(&m, ratio * width, "blk.%zu.%s_ape.weight", il, prefix);

	strcpy(name, prefix);
	value = linear(part(il, strcat(name, "_kv")), x, n, m.n_embd, width);
	strcpy(name, prefix);
	score = linear(part(il, strcat(name, "_gate")), x, n, m.n_embd, width);
	for (size_t g = 0; g < groups; g++)
		for (size_t e = 0; e < d; e++)
			y[g * ratio * d + e] = compressed(il, value, score, places, g, d, e);
	strcpy(name, prefix);
	norm_in_place(part(il, strcat(name, "_norm")), y, n, d);
	turn(il, y, n, 1, d, 0);        /* a compressed row has its group's first position */
	for (size_t g = 1; g < groups; g++)
		memcpy(y + g * d, y + g * ratio * d, d * sizeof *y);
	free(value);
	free(score);
	free(places);
	return y;
}

/* Puts an item into a free place of a heap of n, whose first has the least score: from the leaf to which the lesser
 * children lead, it rises. */
static void put(size_t *heap, size_t n, size_t place, size_t item, const double *score)
{
	size_t from = place;

	while (2 * place + 1 < n) {
		size_t child = 2 * place + 2;

		if (child == n || score[heap[child]] > score[heap[child - 1]])
			child--;
		heap[place] = heap[child];
		place = child;
	}
	while (place > from && score[heap[(place - 1) / 2]] > score[item]) {
		heap[place] = heap[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	heap[place] = item;
}

/* taken[n]: which are the best. Of equal scores those that remain in a heap of the first ones when the others come one
 * by one, as in GNU's std::partial_sort. */
static void take_best(const double *score, size_t n, size_t best, char *taken)
{
	size_t *heap = memory(n + 1, sizeof *heap);

	best = best < n ? best : n;
	for (size_t i = 0; i < best; i++)
		heap[i] = i;
	for (size_t i = best / 2; i > 0; i--)
		put(heap, best, i - 1, heap[i - 1], score);
	for (size_t i = best; i < n; i++)
		if (score[i] > score[heap[0]])
			put(heap, best, 0, i, score);
	for (size_t i = 0; i < best; i++)
		taken[heap[i]] = 1;
	free(heap);
}

/* The score of a group by row i. */
static double score_of(const double *q, const double *k, const double *weight, size_t i, size_t group)
{
	size_t heads = m.index_heads, d = m.index_dim;
	double score = 0;

	for (size_t h = 0; h < heads; h++) {
		double dot = 0;

		for (size_t e = 0; e < d; e++)
			dot += q[(i * heads + h) * d + e] * k[group * d + e];
		score += fmax(dot, 0) * weight[i * heads + h];
	}
	return score;
}

/* sees[n][n / ratio]: whether a row sees a group: the best by queries q[n][index_heads][index_dim], whose heads weigh
 * `weight`, and keys k[n / ratio][index_dim]. */
static void choose(const double *q, const double *k, const double *weight, size_t n, size_t ratio, char *sees)
{
	double *score = memory(n + 1, sizeof *score);

	for (size_t i = 0; i < n; i++) {
		size_t seen = (i + 1) / ratio;

		for (size_t g = 0; g < seen; g++)
			score[g] = score_of(q, k, weight, i, g);
		take_best(score, seen, m.index_top, sees + i * (n / ratio));
	}
	free(score);
}

/* The choice among compressed rows (DeepSeek 4). */
static void choose_groups(size_t il, const double *x, const double *low, size_t n, char *sees)
{
	size_t heads = m.index_heads, d = m.index_dim, rank = n_weights(&m, "blk.%zu.attn_q_a_norm.weight", il);
	double *q = linear(part(il, "indexer.attn_q_b"), low, n, rank, heads * d);
	double *weight = linear(part(il, "indexer.proj"), x, n, m.n_embd, heads);
	double *k = compress(il, "indexer_compressor", x, n, d);

	turn(il, q, n, heads, d, 0);
	choose(q, k, weight, n, m.layer[il].ratio, sees);
	free(q);
	free(k);
	free(weight);
}

/* In-place layer norm of x[n][d]. */
static void layer_norm(size_t il, const char *name, double *x, size_t n, size_t d)
{
	float *weight = weights(&m, d, "blk.%zu.%s.weight", il, name);
	float *bias = weights(&m, d, "blk.%zu.%s.bias", il, name);

	for (size_t i = 0; i < n; i++) {
		double *a = x + i * d, mean = 0, square = 0;

		for (size_t e = 0; e < d; e++)
			mean += a[e] / (double)d;
		for (size_t e = 0; e < d; e++)
			square += (a[e] - mean) * (a[e] - mean) / (double)d;
		for (size_t e = 0; e < d; e++)
			a[e] = (a[e] - mean) / sqrt(square + m.index_eps) * weight[e] + bias[e];
	}
	free(weight);
	free(bias);
}

/* Rotates x[n][heads][index_dim] as the indexer does. */
static void turn_index(size_t il, double *x, size_t n, size_t heads)
{
	int halves = m.halves;

	m.halves = m.index_halves;
	if (m.index_turns_end)
		turn(il, x, n, heads, m.index_dim, 0);
	else
		rope(&m.layer[il], x, n, heads, m.index_dim);
	m.halves = halves;
}

/* Replaces k by the mean of each group, [n / ratio][d], normed, and rotated by the group's first position. */
static void mean_keys(size_t il, double *k, size_t n, size_t d)
{
	size_t ratio = m.layer[il].ratio;

	for (size_t g = 0; g < n / ratio; g++)
		for (size_t e = 0; e < d; e++) {
			double sum = 0;

			for (size_t j = 0; j < ratio; j++)
				sum += k[(g * ratio + j) * d + e];
			k[g * ratio * d + e] = sum / (double)ratio;
		}
	norm_in_place(part(il, "indexer.k_norm"), k, n, d);
	rope(&m.layer[il], k, n, 1, d);
	for (size_t g = 1; g < n / ratio; g++)
		memcpy(k + g * d, k + g * ratio * d, d * sizeof *k);
}

/* Sets m.sees: each row sees the positions of its chosen groups and of the incomplete last group. */
static void see_groups(const double *q, const double *k, const double *weight, size_t n, size_t ratio)
{
	size_t groups = n / ratio;
	char *sees = memory(n * groups, 1);

	choose(q, k, weight, n, ratio, sees);
	free(m.sees);
	m.sees = memory(n * n, 1);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			m.sees[i * n + j] = j / ratio >= (i + 1) / ratio || sees[i * groups + j / ratio];
	free(sees);
}

/* m.sees: index_top positions, by the scores of their groups; first those after the last complete group. */
static void see_positions(const double *q, const double *k, const double *weight, size_t n, size_t ratio)
{
	double *score = memory(n, sizeof *score);

	free(m.sees);
	m.sees = memory(n * n, 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++)
			score[j] = j / ratio < (i + 1) / ratio ? score_of(q, k, weight, i, j / ratio) : INFINITY;
		take_best(score, i + 1, m.index_top, m.sees + i * n);
	}
	free(score);
}

static void choose_blocks(size_t il, const double *x, size_t n)
{
	size_t heads = m.index_heads, d = m.index_dim, ratio = m.layer[il].ratio;
	double *q = linear(part(il, "indexer.q_proj"), x, n, m.n_embd, heads * d);
	double *k = linear(part(il, "indexer.k_proj"), x, n, m.n_embd, d), *weight = memory(n * heads, sizeof *weight);

	for (size_t i = 0; i < n * heads; i++)
		weight[i] = 1;
	norm_in_place(part(il, "indexer.q_norm"), q, n * heads, d);
	rope(&m.layer[il], q, n, heads, d);
	mean_keys(il, k, n, d);
	see_positions(q, k, weight, n, ratio);
	free(q);
	free(k);
	free(weight);
}

/* sees[n][n]: blocks of positions, the best by their largest score, for queries q[n][heads][d] of one head. */
static void see_blocks(const double *q, const double *k, size_t block, size_t n, char *sees)
{
	size_t d = m.index_dim;
	double *score = memory(n, sizeof *score);
	char *taken = memory(n, 1);

	for (size_t i = 0; i < n; i++) {
		size_t blocks = i / block + 1;

		for (size_t b = 0; b < blocks; b++)
			score[b] = b + m.index_local < blocks ? -INFINITY : INFINITY;
		for (size_t j = 0; j <= i; j++) {
			double dot = 0;

			for (size_t e = 0; e < d; e++)
				dot += q[i * m.index_heads * d + e] * k[j * d + e];
			score[j / block] = fmax(score[j / block], dot);
		}
		memset(taken, 0, n);
		take_best(score, blocks, m.index_top, taken);
		for (size_t j = 0; j <= i; j++)
			sees[i * n + j] = taken[j / block];
	}
	free(score);
	free(taken);
}

static void choose_by_head(size_t il, const double *x, size_t n)
{
	size_t heads = m.index_heads, d = m.index_dim;
	double *q = linear(part(il, "indexer.q_proj"), x, n, m.n_embd, heads * d);
	double *k = linear(part(il, "indexer.k_proj"), x, n, m.n_embd, d);

	norm_in_place(part(il, "indexer.q_norm"), q, n * heads, d);
	norm_in_place(part(il, "indexer.k_norm"), k, n, d);
	rope(&m.layer[il], q, n, heads, d);
	rope(&m.layer[il], k, n, 1, d);
	free(m.sees);
	m.sees = memory(heads * n * n, 1);
	for (size_t h = 0; h < heads; h++)
		see_blocks(q + h * d, k, m.layer[il].ratio, n, m.sees + h * n * n);
	free(q);
	free(k);
}

/* Replaces k by the weighted sum of each group, [n / ratio][d]; the weights are softmax(gate + places) over the
 * group. */
static void pool_keys(size_t il, double *k, const double *gate, size_t n, size_t d)
{
	size_t ratio = m.layer[il].ratio;
	float *places = needed(il, has(il, "indexer.kpool_ape") ? "indexer.kpool_ape.weight"
		: "indexer_compressor_ape.weight", ratio * d);
	double *p = memory(ratio, sizeof *p);

	for (size_t g = 0; g < n / ratio; g++)
		for (size_t e = 0; e < d; e++) {
			double sum = 0;

			for (size_t j = 0; j < ratio; j++)
				p[j] = gate[(g * ratio + j) * d + e] + places[j * d + e];
			softmax(p, ratio);
			for (size_t j = 0; j < ratio; j++)
				sum += p[j] * k[(g * ratio + j) * d + e];
			k[g * d + e] = sum;
		}
	free(places);
	free(p);
}

void choose_positions(size_t il, const double *x, size_t n)
{
	size_t heads = m.index_heads, d = m.index_dim, rank = n_weights(&m, "blk.%zu.attn_q_a_norm.weight", il);
	double *low, *q, *k, *weight;

	if (!m.index_top || !m.layer[il].chooses)
		return;
	if (has(il, "indexer.k_proj")) {
		(m.index_local ? choose_by_head : choose_blocks)(il, x, n);
		return;
	}
	low = linear(part(il, "attn_q_a"), x, n, m.n_embd, rank);
	norm_in_place(part(il, "attn_q_a_norm"), low, n, rank);
	q = linear(part(il, "indexer.attn_q_b"), low, n, rank, heads * d);
	k = linear(part(il, "indexer.attn_k"), x, n, m.n_embd, d);
	weight = linear(part(il, "indexer.proj"), x, n, m.n_embd, heads);
	layer_norm(il, "indexer.k_norm", k, n, d);
	if (m.layer[il].ratio) {
		int other = has(il, "indexer.kpool_gate");
		double *gate = linear(part(il, other ? "indexer.kpool_gate" : "indexer_compressor_gate"), x, n,
			m.n_embd, d);

		pool_keys(il, k, gate, n, d);
		free(gate);
	}
	turn_index(il, q, n, heads);
	turn_index(il, k, n, 1);
	see_groups(q, k, weight, n, m.layer[il].ratio ? m.layer[il].ratio : 1);
	free(low);
	free(q);
	free(k);
	free(weight);
}

/* out[d] = attention of query q over n keys, which are also the values */
static void attend(const double *q, const double *const keys[], size_t n, double sink, double *out)
{
	double *p = memory(n + 1, sizeof *p);

	p[n] = sink;
	for (size_t j = 0; j < n; j++) {
		for (size_t e = 0; e < m.head_dim; e++)
			p[j] += q[e] * keys[j][e];
		p[j] *= m.scale;
	}
	softmax(p, n + 1);
	for (size_t j = 0; j < n; j++)
		for (size_t e = 0; e < m.head_dim; e++)
			out[e] += p[j] * keys[j][e];
	free(p);
}

/* Returns [n][n_head][head_dim]: each row's attention over its window of k and the compressed rows c that it sees. c
 * may be NULL. */
static double *attend_all(size_t il, const double *q, const double *k, const double *c, const char *sees, size_t n)
{
	size_t d = m.head_dim, ratio = m.layer[il].ratio;
	const double **keys = memory(2 * n, sizeof *keys);
	double *out = memory(n * m.n_head * d, sizeof *out);
	float *sinks = weights(&m, m.n_head, "blk.%zu.attn_sinks.weight", il);

	for (size_t i = 0; i < n; i++) {
		size_t seen = 0;

		for (size_t g = 0; c && g < (i + 1) / ratio; g++)
			if (sees[i * (n / ratio) + g])
				keys[seen++] = c + g * d;
		for (size_t j = 0; j <= i; j++)
			if (i - j < m.layer[il].window)
				keys[seen++] = k + j * d;
		for (size_t h = 0; h < m.n_head; h++)
			attend(q + (i * m.n_head + h) * d, keys, seen, sinks[h], out + (i * m.n_head + h) * d);
	}
	free(keys);
	free(sinks);
	return out;
}

/* The output product in two steps: a separate matrix for each group of heads, then one matrix for all. */
static double *leave(size_t il, const double *x, size_t n)
{
	size_t groups = m.out_groups, width = m.n_head * m.head_dim / groups;
	size_t rank = n_weights(&m, "blk.%zu.attn_output_a.weight", il) / (groups * width);
	float *a = weights(&m, groups * rank * width, "blk.%zu.attn_output_a.weight", il);
	double *low = memory(n * groups * rank, sizeof *low), *y;

	for (size_t i = 0; i < n * groups; i++)
		product(low + i * rank, a + i % groups * rank * width, NULL, x + i * width, 1, width, rank);
	y = linear(part(il, "attn_output_b"), low, n, groups * rank, m.n_embd);
	free(a);
	free(low);
	return y;
}

double *compressed_attention(size_t il, const double *x, size_t n)
{
	size_t rank = n_weights(&m, "blk.%zu.attn_q_a_norm.weight", il), d = m.head_dim, ratio = m.layer[il].ratio;
	double *low = linear(part(il, "attn_q_a"), x, n, m.n_embd, rank), *q, *k, *c = NULL, *out, *y;
	char *sees = memory(n * n + 1, 1);

	norm_in_place(part(il, "attn_q_a_norm"), low, n, rank);
	q = linear(part(il, "attn_q_b"), low, n, rank, m.n_head * d);
	bare_norm_rows(q, n * m.n_head, d);
	turn(il, q, n, m.n_head, d, 0);
	k = linear(part(il, "attn_kv"), x, n, m.n_embd, d);
	norm_in_place(part(il, "attn_kv_a_norm"), k, n, d);
	turn(il, k, n, 1, d, 0);
	memset(sees, ratio != INDEXED, n * n);
	if (ratio)
		c = compress(il, "attn_compressor", x, n, d);
	if (ratio == INDEXED)
		choose_groups(il, x, low, n, sees);
	out = attend_all(il, q, k, c, sees, n);
	turn(il, out, n, m.n_head, d, 1);
	y = leave(il, out, n);
	free(low);
	free(q);
	free(k);
	free(c);
	free(out);
	free(sees);
	return y;
}
