/* reference_attention: attention with keys and values for each KV head, and latent attention. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double alibi_slope(size_t head)
{
	size_t whole = 1;

	while (2 * whole <= m.n_head)
		whole *= 2;
	return head < whole ? pow(2, -(double)(head + 1) * m.alibi / (double)whole)
		: pow(2, -(double)(2 * (head - whole) + 1) * m.alibi / (double)(2 * whole));
}

static size_t apart(size_t i, size_t j)
{
	return i > j ? i - j : j - i;
}

static int visible(const struct reference_layer *l, size_t kv_head, size_t i, size_t j, size_t n)
{
	return (!m.sees || l->window || m.sees[((m.index_local ? kv_head : 0) * n + i) * n + j])
		&& (!l->window || apart(i, j) < l->window) && (!l->chunk || i / l->chunk == j / l->chunk);
}

static double score(const double *q, const double *k, size_t head, size_t distance)
{
	double sum = 0;

	for (size_t e = 0; e < m.head_dim; e++)
		sum += q[e] * k[e];
	sum *= m.scale;
	if (m.attn_cap > 0)
		sum = m.attn_cap * tanh(sum / m.attn_cap);
	return sum - (m.alibi > 0 ? alibi_slope(head) * (double)distance : 0);
}

/* out[n][n_head · dim_v] = softmax(scores) v, causal unless rows see the whole text; query head h reads KV head h /
 * (n_head / n_head_kv). A sink is an extra score of a head that takes its share of the softmax and has no value. */
static double *attention(size_t il, const double *q, const double *k, const double *v, size_t n)
{
	const struct reference_layer *l = &m.layer[il];
	size_t d = m.head_dim, dim_v = m.dim_v, group = m.n_head / m.n_head_kv;
	double *out = memory(n * m.n_head * dim_v, sizeof *out), *p = memory(n, sizeof *p);
	float *sinks = weights(&m, m.n_head, "blk.%zu.attn_sinks%s", il, m.rules->ollama ? "" : ".weight");

	for (size_t i = 0; i < n; i++)
		for (size_t h = 0; h < m.n_head; h++) {
			const double *qh = q + (i * m.n_head + h) * d;
			size_t end = m.sees_all ? n : i + 1;
			double most = sinks ? sinks[h] : -INFINITY, sum;

			for (size_t j = 0; j < end; j++) {
				p[j] = visible(l, h / group, i, j, n)
					? score(qh, k + (j * m.n_head_kv + h / group) * d, h, apart(i, j)) : -INFINITY;
				most = fmax(most, p[j]);
			}
			sum = sinks ? exp(sinks[h] - most) : 0;
			for (size_t j = 0; j < end; j++)
				sum += p[j] = exp(p[j] - most);
			for (size_t j = 0; j < end; j++)
				for (size_t e = 0; e < dim_v; e++)
					out[(i * m.n_head + h) * dim_v + e] +=
						p[j] / sum * v[(j * m.n_head_kv + h / group) * dim_v + e];
		}
	free(p);
	free(sinks);
	return out;
}

/* Adds the biases of a part of a fused matrix that has none itself. */
static void add_biases(const char *name, double *y, size_t n, size_t width)
{
	float *bias = weights(&m, width, "%s.bias", name);

	for (size_t i = 0; i < n * width && bias; i++)
		y[i] += bias[i % width];
	free(bias);
}

/* One of q, k, v = x · W: by tensor `what` or, if there is none, by its columns of the fused tensor `whole`. */
static double *fused(size_t il, const char *what, const char *whole, const double *x, size_t n, const size_t sizes[3])
{
	size_t from = sizes[0], width = sizes[1], all = sizes[2];
	double *y, *z;

	if (has(il, what))
		return linear(part(il, what), x, n, m.n_embd, width);
	y = linear(part(il, whole), x, n, m.n_embd, all);
	z = columns(y, n, all, from, width);
	add_biases(part(il, what), z, n, width);
	if (m.n_adapters)
		add_delta(part(il, what), z, x, n, m.n_embd, width);
	free(y);
	return z;
}

static void clip(double *x, size_t n)
{
	for (size_t i = 0; i < n && m.clamp > 0; i++)
		x[i] = fmin(fmax(x[i], -m.clamp), m.clamp);
}

/* Layer norms of x[n][heads][head_dim], with separate weights and biases for each head. */
static void layer_norm_heads(const char *name, double *x, size_t n, size_t heads)
{
	size_t d = m.head_dim;
	float *weight = weights(&m, heads * d, "%s.weight", name), *bias = weights(&m, heads * d, "%s.bias", name);

	for (size_t i = 0; i < n * heads; i++) {
		double *a = x + i * d, mean = 0, square = 0;
		size_t at = i % heads * d;

		for (size_t e = 0; e < d; e++)
			mean += a[e] / (double)d;
		for (size_t e = 0; e < d; e++)
			square += (a[e] - mean) * (a[e] - mean) / (double)d;
		for (size_t e = 0; e < d; e++)
			a[e] = (a[e] - mean) / sqrt(square + 1e-5) * weight[at + e] + (bias ? bias[at + e] : 0);
	}
	free(weight);
	free(bias);
}

/* Multiplies each head of q by its own number, if the layer has them. */
static void multiply_heads(size_t il, double *q, size_t n)
{
	float *gain = weights(&m, m.n_head, "blk.%zu.attn_q_norm.weight", il);

	for (size_t i = 0; i < n * m.n_head * m.head_dim && gain; i++)
		q[i] *= gain[i / m.head_dim % m.n_head];
	free(gain);
}

/* Norms and rotates the heads of q or k[n][heads][head_dim]. */
static void place(size_t il, const char *norm, double *x, size_t n, size_t heads)
{
	const struct reference_layer *l = &m.layer[il];
	size_t d = m.head_dim;

	if (m.rules->layer_norm_heads)
		layer_norm_heads(part(il, norm), x, n, heads);
	else if (m.rules->heads == HEADS_EACH && has(il, norm))
		norm_in_place(part(il, norm), x, n * heads, d);
	if (m.rules->heads == HEADS_TOGETHER && has(il, norm))
		norm_in_place(part(il, norm), x, n, heads * d);
	if (l->rotated)
		rope(l, x, n, heads, d);
	if (m.rules->heads == HEADS_EACH_LATE)
		norm_in_place(part(il, norm), x, n * heads, d);
	if (l->bare_heads)
		bare_norm_rows(x, n * heads, d);
}

static void warm(const struct reference_layer *l, double *q, size_t n)
{
	size_t width = m.n_head * m.head_dim;

	for (size_t i = 0; i < n && l->temperature > 0; i++)
		for (size_t e = 0; e < width; e++)
			q[i * width + e] *= 1 + l->temperature
				* log(1 + (double)((i + m.temperature_offset) / m.temperature_length));
}

/* Keys from latent rows. attn_k_b[head][latent][nope] is stored for multiplying queries, that is, transposed. */
static double *keys_of(size_t il, const double *latent, size_t n, size_t rank, size_t nope)
{
	double *k = memory(n * m.n_head * nope, sizeof *k);
	float *w = weights(&m, nope * rank * m.n_head, "blk.%zu.attn_k_b.weight", il);

	if (!w)
		die("blk.%zu.attn_k_b.weight: missing", il);
	for (size_t i = 0; i < n; i++)
		for (size_t h = 0; h < m.n_head; h++)
			for (size_t r = 0; r < rank; r++)
				for (size_t e = 0; e < nope; e++)
					k[(i * m.n_head + h) * nope + e] += w[(h * rank + r) * nope + e]
						* latent[i * rank + r];
	free(w);
	return k;
}

/* The queries of latent attention (DeepSeek-AI 2024): each head is [unrotated | rotated] elements. */
static double *latent_queries(size_t il, const double *x, size_t n)
{
	size_t rank = n_weights(&m, "blk.%zu.attn_q_a_norm.weight", il), width = m.n_head * m.head_dim;
	double *a, *q;

	if (!rank)
		return linear(part(il, "attn_q"), x, n, m.n_embd, width);
	a = linear(part(il, "attn_q_a"), x, n, m.n_embd, rank);
	norm_in_place(part(il, "attn_q_a_norm"), a, n, rank);
	q = linear(part(il, "attn_q_b"), a, n, rank, width);
	free(a);
	return q;
}

/* Rotates the last part of each head of q, and `shared`, which it copies to the end of every head of k. */
static void place_latent(size_t il, double *q, double *k, double *shared, size_t n)
{
	size_t d = m.head_dim, nope = d - m.n_rot;
	double *turned = columns(q, n * m.n_head, d, nope, m.n_rot);

	if (m.layer[il].rotated) {
		rope(&m.layer[il], turned, n, m.n_head, m.n_rot);
		rope(&m.layer[il], shared, n, 1, m.n_rot);
	}
	for (size_t i = 0; i < n * m.n_head; i++) {
		memcpy(q + i * d + nope, turned + i * m.n_rot, m.n_rot * sizeof *q);
		memcpy(k + i * d + nope, shared + i / m.n_head * m.n_rot, m.n_rot * sizeof *k);
	}
	free(turned);
}

static void latent_qkv(size_t il, const double *x, size_t n, double *qkv[3])
{
	size_t d = m.head_dim, nope = d - m.n_rot, rank = n_weights(&m, "blk.%zu.attn_kv_a_norm.weight", il);
	double *all = linear(part(il, "attn_kv_a_mqa"), x, n, m.n_embd, rank + m.n_rot), *plain;
	double *latent = columns(all, n, rank + m.n_rot, 0, rank);
	double *shared = columns(all, n, rank + m.n_rot, rank, m.n_rot);

	norm_in_place(part(il, "attn_kv_a_norm"), latent, n, rank);
	if (has(il, "attn_k_norm"))
		norm_in_place(part(il, "attn_k_norm"), shared, n, m.n_rot);
	qkv[0] = latent_queries(il, x, n);
	if (has(il, "attn_kv_b")) {     /* each head's keys, then its values */
		double *kv = linear(part(il, "attn_kv_b"), latent, n, rank, m.n_head * (nope + m.dim_v));

		plain = columns(kv, n * m.n_head, nope + m.dim_v, 0, nope);
		qkv[2] = columns(kv, n * m.n_head, nope + m.dim_v, nope, m.dim_v);
		free(kv);
	} else {
		plain = keys_of(il, latent, n, rank, nope);
		qkv[2] = linear(part(il, "attn_v_b"), latent, n, rank, m.n_head * m.dim_v);
	}
	qkv[1] = memory(n * m.n_head * d, sizeof **qkv);
	for (size_t i = 0; i < n * m.n_head; i++)
		memcpy(qkv[1] + i * d, plain + i * nope, nope * sizeof **qkv);
	place_latent(il, qkv[0], qkv[1], shared, n);
	free(all);
	free(latent);
	free(shared);
	free(plain);
}

/* Copies k and v from the earlier layer whose cache this layer shares. */
static void borrow(size_t il, size_t n, double *qkv[3])
{
	const struct reference_layer *of = &m.layer[m.layer[il].kv_of];

	qkv[1] = copy(of->k, n * m.n_head_kv * m.head_dim);
	qkv[2] = copy(of->v, n * m.n_head_kv * m.dim_v);
}

/* Keeps k and v for the later layers that share them. */
static void keep(struct reference_layer *l, size_t n, double *qkv[3])
{
	free(l->k);
	free(l->v);
	l->k = copy(qkv[1], n * m.n_head_kv * m.head_dim);
	l->v = copy(qkv[2], n * m.n_head_kv * m.dim_v);
}

/* Rows of q if each head has the gate of attention's result after its query; and of such q, k and v in one tensor. */
static size_t with_gates(void)
{
	return 2 * m.n_head * m.head_dim;
}

static size_t all_with_gates(void)
{
	return with_gates() + m.n_head_kv * (m.head_dim + m.dim_v);
}

static int has_gates(size_t il)
{
	return n_weights(&m, "blk.%zu.attn_q.weight", il) == with_gates() * m.n_embd
		|| n_weights(&m, "blk.%zu.attn_qkv.weight", il) == all_with_gates() * m.n_embd;
}

static double *half_of_q(size_t il, const double *x, size_t n, size_t half)
{
	size_t d = m.head_dim;
	double *both = fused(il, "attn_q", "attn_qkv", x, n, (size_t[]){ 0, with_gates(), all_with_gates() });
	double *y = columns(both, n * m.n_head, 2 * d, half * d, d);

	free(both);
	return y;
}

/* Multiplies out by the gates of attn_gate, if there are any: one per element or one per head. */
static void multiply_gates(size_t il, double *out, const double *x, size_t n)
{
	size_t all = m.n_head * m.dim_v, rank = n_weights(&m, "blk.%zu.attn_q_a_norm.weight", il);
	size_t width = m.low_gates ? rank : m.n_embd;
	size_t given = n_weights(&m, "blk.%zu.attn_gate.weight", il) / width;
	double *low = m.low_gates ? linear(part(il, "attn_q_a"), x, n, m.n_embd, width) : copy(x, n * width);
	double *gate = given ? linear(part(il, "attn_gate"), low, n, width, given) : half_of_q(il, x, n, 1);

	for (size_t i = 0; i < n * all; i++) {
		double z = gate[i / (given ? all / given : 1)];

		out[i] *= m.rules->softplus_gates ? log1p(exp(z)) : sigmoid(z);
	}
	free(low);
	free(gate);
}

static void plain_qkv(size_t il, const double *x, size_t n, double *qkv[3])
{
	size_t n_q = m.n_head * m.head_dim, n_kv = m.n_head_kv * m.head_dim, n_v = m.n_head_kv * m.dim_v;
	size_t to_k = has_gates(il) ? with_gates() : n_q, all = to_k + n_kv + n_v;
	int keys_only = !has(il, "attn_v") && !has(il, "attn_qkv");

	qkv[0] = has_gates(il) ? half_of_q(il, x, n, 0)
		: fused(il, "attn_q", "attn_qkv", x, n, (size_t[]){ 0, n_q, all });
	clip(qkv[0], n * n_q);
	place(il, "attn_q_norm", qkv[0], n, m.n_head);
	if (m.rules->carries_embedding)
		multiply_heads(il, qkv[0], n);
	if (m.layer[il].kv_of != il) {
		borrow(il, n, qkv);
		return;
	}
	qkv[1] = fused(il, "attn_k", "attn_qkv", x, n, (size_t[]){ to_k, n_kv, all });
	qkv[2] = keys_only ? copy(qkv[1], n * n_kv)
		: fused(il, "attn_v", "attn_qkv", x, n, (size_t[]){ to_k + n_kv, n_v, all });
	clip(qkv[1], n * n_kv);
	clip(qkv[2], n * n_v);
	place(il, "attn_k_norm", qkv[1], n, m.n_head_kv);
	if (m.bare_values)
		bare_norm_rows(qkv[2], n * m.n_head_kv, m.dim_v);
	keep(&m.layer[il], n, qkv);
}

double *attention_part(size_t il, const double *x, size_t n)
{
	double *qkv[3], *out, *branch;

	if (has(il, "attn_output_a"))
		return compressed_attention(il, x, n);
	if (m.n_head && !m.n_head_kv)
		return linear(part(il, "attn_output"), x, n, m.n_embd, m.n_embd);
	choose_positions(il, x, n);
	(has(il, "attn_kv_a_mqa") ? latent_qkv : plain_qkv)(il, x, n, qkv);
	warm(&m.layer[il], qkv[0], n);
	out = attention(il, qkv[0], qkv[1], qkv[2], n);
	if (has_gates(il) || has(il, "attn_gate"))
		multiply_gates(il, out, x, n);
	if (has(il, "attn_sub_norm"))
		norm_in_place(part(il, "attn_sub_norm"), out, n, m.n_head * m.dim_v);
	branch = linear(part(il, "attn_output"), out, n, m.n_head * m.dim_v, m.n_embd);
	if (m.rules->post_norms)
		norm_branch(il, m.rules->attn_post_norm ? m.rules->attn_post_norm : "post_attention_norm", branch, n);
	for (size_t i = 0; i < n * m.n_embd; i++)
		branch[i] *= m.attn_out_scale;
	for (size_t i = 0; i < 3; i++)
		free(qkv[i]);
	free(out);
	return branch;
}
