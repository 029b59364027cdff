/* reference: an independent forward pass in double precision, for tests only. Weights are widened, a whole prompt goes
 * through a layer at a time, every sum is a plain loop, nothing is cached. What families have in common is here, what
 * they differ in is a struct rules (reference_model.h). Formulas: the families' papers; RoPE (Su et al. 2021), YaRN
 * (Peng et al. 2023), ALiBi (Press et al. 2022), mixtures of experts (Shazeer et al. 2017), group-limited choice
 * (DeepSeek-AI 2024).
 *
 *	reference MODEL < ids > stream          decimal ids in, one frame of logits out: a row for every id
 *	reference -n 16 MODEL < ids             the 16 greedy ids that follow, as text */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/frame.h"
#include "reference_model.h"

enum { IDS_MAX = 4096 };

static struct reference m;

/* ---- arithmetic; n is the number of positions throughout ---- */

/* y[n][rows] = x[n][cols] · W[rows][cols] (+ bias) */
static void product(double *y, const float *weight, const float *bias, const double *x, size_t n, size_t cols,
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

/* The same with W and bias named PREFIX.weight and PREFIX.bias. A number PREFIX.scale multiplies W. */
static double *linear(const char *prefix, const double *x, size_t n, size_t cols, size_t rows)
{
	float *weight = weights(&m, rows * cols, "%s.weight", prefix), *bias = weights(&m, rows, "%s.bias", prefix);
	float *scale = weights(&m, 1, "%s.scale", prefix);
	double *y = memory(n * rows, sizeof *y);

	if (!weight)
		die("%s.weight: missing", prefix);
	for (size_t i = 0; i < rows * cols && scale; i++)
		weight[i] *= *scale;
	product(y, weight, bias, x, n, cols, rows);
	free(weight);
	free(bias);
	free(scale);
	return y;
}

/* x[n][width]: each row normed in place; row i by row i mod `sets` of the weights, if there are any. */
static void norm_rows(double *x, size_t n, size_t width, const float *weight, const float *bias, size_t sets)
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

/* In place, with the tensors PREFIX.weight and PREFIX.bias, where there are any. */
static void norm_in_place(const char *prefix, double *x, size_t n, size_t width)
{
	size_t sets = n_weights(&m, "%s.weight", prefix) / width;
	float *weight = weights(&m, sets * width, "%s.weight", prefix), *bias = weights(&m, width, "%s.bias", prefix);

	norm_rows(x, n, width, weight, bias, sets);
	free(weight);
	free(bias);
}

static double *copy(const double *x, size_t n)
{
	double *y = memory(n, sizeof *y);

	memcpy(y, x, n * sizeof *y);
	return y;
}

/* Turns per position of pair i, and in *length what cos and sin are multiplied by. */
static double rope_frequency(const struct reference_layer *l, size_t i, const float *factors, double *length)
{
	double d = (double)m.n_rot, base = l->plain_base > 0 ? l->plain_base : m.rope_base;
	double full = pow(base, -2.0 * (double)i / d);
	double scaled, low, high, ramp, turn = 2 * acos(-1);

	*length = 1;
	if (l->plain_base > 0)
		return full;
	*length = m.rope_length;
	full /= factors ? factors[i] : 1;
	scaled = full / m.factor;
	if (!m.yarn)
		return scaled;
	/* Pairs that turn more than 32 times in the original context stay, those that turn less than once are scaled;
	 * in between there is a ramp. */
	low = floor(d * log(m.original_ctx / (m.beta_fast * turn)) / (2 * log(base)));
	high = ceil(d * log(m.original_ctx / (m.beta_slow * turn)) / (2 * log(base)));
	low = fmax(low, 0);
	high = fmin(high, d - 1);
	ramp = fmin(1, fmax(0, ((double)i - low) / fmax(0.001, high - low)));
	return full * (1 - ramp) + scaled * ramp;
}

/* x[n][heads][d], the first n_rot elements of each head rotated in place: row i is position i */
static void rope(const struct reference_layer *l, double *x, size_t n, size_t heads, size_t d)
{
	float *factors = weights(&m, m.n_rot / 2, "%s", m.factors);

	for (size_t pair = 0; pair < m.n_rot / 2; pair++) {
		double length, frequency = rope_frequency(l, pair, factors, &length);
		size_t a = m.rules->halves ? pair : 2 * pair, b = m.rules->halves ? a + m.n_rot / 2 : a + 1;

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

static double activation(const double *xielu, double x)
{
	switch (m.rules->act) {
	case GELU: return x * 0.5 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
	case RELU: return fmax(x, 0);
	case RELU2: return fmax(x, 0) * fmax(x, 0);
	case XIELU:
		return x > 0 ? xielu[0] * x * x + xielu[2] * x
			: (expm1(fmin(x, xielu[3])) - x) * xielu[1] + xielu[2] * x;
	default: return silu(x);
	}
}

static double gated(double gate, double up)
{
	if (m.rules->act != SWIGLU_OAI)
		return activation(NULL, gate) * up;
	gate = fmin(gate, 7);           /* gpt-oss clamps both */
	up = fmin(fmax(up, -7), 7);
	return gate / (1 + exp(-1.702 * gate)) * (up + 1);
}

/* ---- attention ---- */

static double alibi_slope(size_t head)
{
	size_t whole = 1;

	while (2 * whole <= m.n_head)
		whole *= 2;
	return head < whole ? pow(2, -(double)(head + 1) * m.alibi / (double)whole)
		: pow(2, -(double)(2 * (head - whole) + 1) * m.alibi / (double)(2 * whole));
}

static int visible(const struct reference_layer *l, size_t i, size_t j)
{
	return (!l->window || i - j < l->window) && (!l->chunk || i / l->chunk == j / l->chunk);
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

/* out[n][n_head · dim_v] = softmax(scores) v, causal; query head h reads KV head h / (n_head / n_head_kv). A sink
 * is one more score of a head, without a value. */
static double *attention(size_t il, const double *q, const double *k, const double *v, size_t n)
{
	const struct reference_layer *l = &m.layer[il];
	size_t d = m.head_dim, dim_v = m.dim_v, group = m.n_head / m.n_head_kv;
	double *out = memory(n * m.n_head * dim_v, sizeof *out), *p = memory(n, sizeof *p);
	float *sinks = weights(&m, m.n_head, "blk.%zu.attn_sinks.weight", il);

	for (size_t i = 0; i < n; i++)
		for (size_t h = 0; h < m.n_head; h++) {
			const double *qh = q + (i * m.n_head + h) * d;
			double most = sinks ? sinks[h] : -INFINITY, sum;

			for (size_t j = 0; j <= i; j++) {
				p[j] = visible(l, i, j) ? score(qh, k + (j * m.n_head_kv + h / group) * d, h, i - j)
					: -INFINITY;
				most = fmax(most, p[j]);
			}
			sum = sinks ? exp(sinks[h] - most) : 0;
			for (size_t j = 0; j <= i; j++)
				sum += p[j] = exp(p[j] - most);
			for (size_t j = 0; j <= i; j++)
				for (size_t e = 0; e < dim_v; e++)
					out[(i * m.n_head + h) * dim_v + e] +=
						p[j] / sum * v[(j * m.n_head_kv + h / group) * dim_v + e];
		}
	free(p);
	free(sinks);
	return out;
}

/* ---- the parts of a layer ---- */

static const char *part(size_t layer, const char *what)
{
	static char name[64];

	snprintf(name, sizeof name, "blk.%zu.%s", layer, what);
	return name;
}

static int has(size_t layer, const char *what)
{
	return n_weights(&m, "blk.%zu.%s.weight", layer, what) > 0;
}

/* A branch of x[n][n_embd] is added, and freed. */
static void add(double *x, double *branch, size_t n)
{
	for (size_t i = 0; i < n * m.n_embd; i++)
		x[i] += branch[i] * m.residual_scale;
	free(branch);
}

/* Columns [from, from + width) of x[n][stride], as a matrix of its own. */
static double *columns(const double *x, size_t n, size_t stride, size_t from, size_t width)
{
	double *y = memory(n * width, sizeof *y);

	for (size_t i = 0; i < n; i++)
		memcpy(y + i * width, x + i * stride + from, width * sizeof *y);
	return y;
}

/* Columns of x · W of layer il: those of WHAT, or, where there is none, those from `from` on of FUSED, with `all`. */
static double *fused(size_t il, const char *what, const char *whole, const double *x, size_t n, const size_t sizes[3])
{
	size_t from = sizes[0], width = sizes[1], all = sizes[2];
	double *y, *z;

	if (has(il, what))
		return linear(part(il, what), x, n, m.n_embd, width);
	y = linear(part(il, whole), x, n, m.n_embd, all);
	z = columns(y, n, all, from, width);
	free(y);
	return z;
}

static void clip(double *x, size_t n)
{
	for (size_t i = 0; i < n && m.clamp > 0; i++)
		x[i] = fmin(fmax(x[i], -m.clamp), m.clamp);
}

/* Norms and rotation of the heads of q or k[n][heads][head_dim]. */
static void place(size_t il, const char *norm, double *x, size_t n, size_t heads)
{
	const struct reference_layer *l = &m.layer[il];
	size_t d = m.head_dim;

	if (m.rules->heads == HEADS_EACH && has(il, norm))
		norm_in_place(part(il, norm), x, n * heads, d);
	if (m.rules->heads == HEADS_TOGETHER)
		norm_in_place(part(il, norm), x, n, heads * d);
	if (l->rotated)
		rope(l, x, n, heads, d);
	if (m.rules->heads == HEADS_EACH_LATE)
		norm_in_place(part(il, norm), x, n * heads, d);
	if (l->bare_heads)
		norm_rows(x, n * heads, d, NULL, NULL, 1);
}

static void warm(const struct reference_layer *l, double *q, size_t n)
{
	size_t width = m.n_head * m.head_dim;

	for (size_t i = 0; i < n && l->temperature > 0; i++)
		for (size_t e = 0; e < width; e++)
			q[i * width + e] *= 1 + l->temperature
				* log(1 + (double)((i + m.temperature_offset) / m.temperature_length));
}

/* The latent rows of keys and values times attn_k_b[head][latent][nope], which files hold for queries. */
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

/* q of latent attention (DeepSeek-AI 2024): heads of [plain | rotated] elements. */
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

/* The rotated parts, at the ends of the heads of q, and of k, for whose heads `shared` is the same. */
static void place_latent(size_t il, double *q, double *k, double *shared, size_t n)
{
	size_t d = m.head_dim, nope = d - m.n_rot;
	double *turned = columns(q, n * m.n_head, d, nope, m.n_rot);

	rope(&m.layer[il], turned, n, m.n_head, m.n_rot);
	rope(&m.layer[il], shared, n, 1, m.n_rot);
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
	qkv[0] = latent_queries(il, x, n);
	if (has(il, "attn_kv_b")) {     /* keys, then values, of each head */
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

static void plain_qkv(size_t il, const double *x, size_t n, double *qkv[3])
{
	size_t n_q = m.n_head * m.head_dim, n_kv = m.n_head_kv * m.head_dim, all = n_q + 2 * n_kv;

	qkv[0] = fused(il, "attn_q", "attn_qkv", x, n, (size_t[]){ 0, n_q, all });
	qkv[1] = fused(il, "attn_k", "attn_qkv", x, n, (size_t[]){ n_q, n_kv, all });
	qkv[2] = fused(il, "attn_v", "attn_qkv", x, n, (size_t[]){ n_q + n_kv, n_kv, all });
	clip(qkv[0], n * n_q);
	clip(qkv[1], n * n_kv);
	clip(qkv[2], n * n_kv);
	place(il, "attn_q_norm", qkv[0], n, m.n_head);
	place(il, "attn_k_norm", qkv[1], n, m.n_head_kv);
}

/* Gates around a causal convolution of each channel: C · conv(B · X). */
static double *convolution(size_t il, const double *x, size_t n)
{
	size_t width = m.n_embd, taps = n_weights(&m, "%s.weight", part(il, "shortconv.conv")) / width;
	double *in = linear(part(il, "shortconv.in_proj"), x, n, width, 3 * width), *branch;
	double *out = memory(n * width, sizeof *out);
	float *w = weights(&m, taps * width, "%s.weight", part(il, "shortconv.conv"));

	for (size_t t = 0; t < n; t++)
		for (size_t c = 0; c < width; c++) {
			for (size_t j = 0; j < taps && j <= t; j++) {
				const double *row = in + (t - j) * 3 * width;

				out[t * width + c] += (double)w[c * taps + taps - 1 - j] * row[c] * row[2 * width + c];
			}
			out[t * width + c] *= in[t * 3 * width + width + c];
		}
	branch = linear(part(il, "shortconv.out_proj"), out, n, width, width);
	free(in);
	free(out);
	free(w);
	return branch;
}

static double *attention_part(size_t il, const double *x, size_t n)
{
	double *qkv[3], *out, *branch;

	if (has(il, "shortconv.conv"))
		return convolution(il, x, n);
	(has(il, "attn_kv_a_mqa") ? latent_qkv : plain_qkv)(il, x, n, qkv);
	warm(&m.layer[il], qkv[0], n);
	out = attention(il, qkv[0], qkv[1], qkv[2], n);
	if (has(il, "attn_sub_norm"))
		norm_in_place(part(il, "attn_sub_norm"), out, n, m.n_head * m.dim_v);
	branch = linear(part(il, "attn_output"), out, n, m.n_head * m.dim_v, m.n_embd);
	if (m.rules->post_norms)
		norm_in_place(part(il, "post_attention_norm"), branch, n, m.n_embd);
	for (size_t i = 0; i < 3; i++)
		free(qkv[i]);
	free(out);
	return branch;
}

static double *dense(size_t il, const double *x, size_t n)
{
	double *up, *gate, *down;

	if (m.rules->ungated) {
		up = linear(part(il, "ffn_up"), x, n, m.n_embd, m.n_ff);
		for (size_t i = 0; i < n * m.n_ff; i++)
			up[i] = activation(m.layer[il].xielu, up[i]);
	} else {                        /* ffn_up alone holds the rows of both, gate first */
		size_t first = has(il, "ffn_gate") ? 0 : m.n_ff;
		double *both = linear(part(il, "ffn_up"), x, n, m.n_embd, first + m.n_ff);

		gate = first ? columns(both, n, 2 * m.n_ff, 0, m.n_ff)
			: linear(part(il, "ffn_gate"), x, n, m.n_embd, m.n_ff);
		up = columns(both, n, first + m.n_ff, first, m.n_ff);
		for (size_t i = 0; i < n * m.n_ff; i++)
			up[i] = gated(gate[i], up[i]);
		free(gate);
		free(both);
	}
	if (has(il, "ffn_sub_norm"))
		norm_in_place(part(il, "ffn_sub_norm"), up, n, m.n_ff);
	down = linear(part(il, "ffn_down"), up, n, m.n_ff, m.n_embd);
	free(up);
	return down;
}

/* ---- mixtures of experts ---- */

static size_t greatest(const double *x, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

static void softmax(double *x, size_t n)
{
	double most = x[greatest(x, n)], sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] = exp(x[i] - most);
	for (size_t i = 0; i < n; i++)
		x[i] /= sum;
}

/* Leaves the best groups of the experts' values s, by the sum of the two largest. */
static void limit_groups(double *s)
{
	size_t size = m.n_expert / m.n_groups;
	double sum[REFERENCE_EXPERTS], group[REFERENCE_EXPERTS];
	int stays[REFERENCE_EXPERTS] = { 0 };

	for (size_t b = 0; b < m.n_groups; b++) {
		size_t first;

		memcpy(group, s + b * size, size * sizeof *group);
		first = greatest(group, size);
		sum[b] = group[first];
		group[first] = -INFINITY;
		sum[b] += size > 1 ? group[greatest(group, size)] : 0;
	}
	for (size_t u = 0; u < m.n_groups_used; u++) {
		size_t b = greatest(sum, m.n_groups);

		stays[b] = 1;
		sum[b] = -INFINITY;
	}
	for (size_t e = 0; e < m.n_expert; e++)
		if (!stays[e / size])
			s[e] = -INFINITY;
}

/* The experts for a row, from the router's logits z, and their weights. */
static void choose(double *z, const float *bias, size_t *chosen, double *weight)
{
	double s[REFERENCE_EXPERTS], sum = 0;

	if (m.gate == GATE_SOFTMAX)
		softmax(z, m.n_expert);
	for (size_t e = 0; e < m.n_expert; e++) {
		z[e] = m.gate == GATE_SIGMOID ? 1 / (1 + exp(-z[e])) : z[e];
		s[e] = z[e] + (bias ? bias[e] : 0);
	}
	if (m.n_groups > 1)
		limit_groups(s);
	for (size_t u = 0; u < m.n_used; u++) {
		chosen[u] = greatest(s, m.n_expert);
		s[chosen[u]] = -INFINITY;
		weight[u] = z[chosen[u]];
	}
	if (m.gate == GATE_CHOSEN)
		softmax(weight, m.n_used);
	for (size_t u = 0; u < m.n_used; u++)
		sum += weight[u];
	for (size_t u = 0; u < m.n_used; u++)
		weight[u] *= m.weights_scale / (m.normalised ? fmax(sum, 6.103515625e-5) : 1);
}

struct expert_matrices {                /* of all experts; biases may be NULL */
	float *gate, *up, *down, *gate_bias, *up_bias, *down_bias;
	size_t n_ff;
};

/* Matrices WHAT of n_expert experts, n values each; a tensor WHAT.scale has a factor for each expert. */
static float *scaled(size_t il, const char *what, const char *suffix, size_t n_expert, size_t n)
{
	float *x = weights(&m, n_expert * n, "blk.%zu.%s_%s.weight", il, what, suffix);
	float *scale = weights(&m, n_expert, "blk.%zu.%s_%s.scale", il, what, suffix);

	for (size_t i = 0; i < n_expert * n && x && scale; i++)
		x[i] *= scale[i / n];
	free(scale);
	return x;
}

/* The halves of ffn_gate_up: of each expert, the gate's rows come first. */
static void split_gate_up(size_t il, const char *suffix, size_t n_expert, struct expert_matrices *x)
{
	size_t n = x->n_ff * m.n_embd;
	float *both = scaled(il, "ffn_gate_up", suffix, n_expert, 2 * n);

	if (!both)
		return;
	x->gate = memory(n_expert * n, sizeof *x->gate);
	x->up = memory(n_expert * n, sizeof *x->up);
	for (size_t e = 0; e < n_expert; e++) {
		memcpy(x->gate + e * n, both + 2 * e * n, n * sizeof *both);
		memcpy(x->up + e * n, both + (2 * e + 1) * n, n * sizeof *both);
	}
	free(both);
}

static struct expert_matrices expert_matrices(size_t il, const char *suffix, size_t n_expert)
{
	size_t n_ff = n_weights(&m, "blk.%zu.ffn_down_%s.weight", il, suffix) / m.n_embd / n_expert;
	struct expert_matrices x = { .n_ff = n_ff };

	x.gate = scaled(il, "ffn_gate", suffix, n_expert, n_ff * m.n_embd);
	x.up = scaled(il, "ffn_up", suffix, n_expert, n_ff * m.n_embd);
	x.down = scaled(il, "ffn_down", suffix, n_expert, n_ff * m.n_embd);
	x.gate_bias = weights(&m, n_expert * n_ff, "blk.%zu.ffn_gate_%s.bias", il, suffix);
	x.up_bias = weights(&m, n_expert * n_ff, "blk.%zu.ffn_up_%s.bias", il, suffix);
	x.down_bias = weights(&m, n_expert * m.n_embd, "blk.%zu.ffn_down_%s.bias", il, suffix);
	if (!x.gate && !x.up)
		split_gate_up(il, suffix, n_expert, &x);
	if (!x.gate || !x.up || !x.down)
		die("blk.%zu: experts are missing", il);
	return x;
}

static void expert_free(struct expert_matrices *x)
{
	free(x->gate);
	free(x->up);
	free(x->down);
	free(x->gate_bias);
	free(x->up_bias);
	free(x->down_bias);
}

/* out[n_embd] += weight · expert e of x[n_embd] */
static void expert(const struct expert_matrices *w, size_t e, const double *x, double weight, double *out)
{
	size_t n_ff = w->n_ff, n = n_ff * m.n_embd;
	double *in = copy(x, m.n_embd), *gate = memory(n_ff, sizeof *gate), *up = memory(n_ff, sizeof *up);
	double *y = memory(m.n_embd, sizeof *y);

	for (size_t i = 0; i < m.n_embd && m.rules->weighs_inputs; i++)
		in[i] *= weight;
	product(gate, w->gate + e * n, w->gate_bias ? w->gate_bias + e * n_ff : NULL, in, 1, m.n_embd, n_ff);
	product(up, w->up + e * n, w->up_bias ? w->up_bias + e * n_ff : NULL, in, 1, m.n_embd, n_ff);
	for (size_t i = 0; i < n_ff; i++)
		up[i] = gated(gate[i], up[i]);
	product(y, w->down + e * n, w->down_bias ? w->down_bias + e * m.n_embd : NULL, up, 1, n_ff, m.n_embd);
	for (size_t i = 0; i < m.n_embd; i++)
		out[i] += y[i] * (m.rules->weighs_inputs ? 1 : weight);
	free(in);
	free(gate);
	free(up);
	free(y);
}

/* out[n][n_embd] += the expert that every row goes through, which may have a gate. */
static void shared_expert(size_t il, const double *x, size_t n, double *out)
{
	struct expert_matrices w = expert_matrices(il, "shexp", 1);
	float *gate = weights(&m, m.n_embd, "blk.%zu.ffn_gate_inp_shexp.weight", il);

	for (size_t i = 0; i < n; i++) {
		double z = 0;

		for (size_t e = 0; e < m.n_embd && gate; e++)
			z += gate[e] * x[i * m.n_embd + e];
		expert(&w, 0, x + i * m.n_embd, gate ? 1 / (1 + exp(-z)) : 1, out + i * m.n_embd);
	}
	free(gate);
	expert_free(&w);
}

/* Of x[n][n_embd]; `input` is what the router reads. */
static double *mixture(size_t il, const double *x, const double *input, size_t n)
{
	struct expert_matrices w = expert_matrices(il, "exps", m.n_expert);
	double *z = linear(part(il, "ffn_gate_inp"), input, n, m.n_embd, m.n_expert);
	double *out = memory(n * m.n_embd, sizeof *out), weight[REFERENCE_EXPERTS];
	float *bias = weights(&m, m.n_expert, "blk.%zu.exp_probs_b.bias", il);
	size_t chosen[REFERENCE_EXPERTS];

	for (size_t i = 0; i < n; i++) {
		choose(z + i * m.n_expert, bias, chosen, weight);
		for (size_t u = 0; u < m.n_used; u++)
			expert(&w, chosen[u], x + i * m.n_embd, weight[u], out + i * m.n_embd);
	}
	if (has(il, "ffn_down_shexp"))
		shared_expert(il, x, n, out);
	free(z);
	free(bias);
	expert_free(&w);
	return out;
}

/* ---- the model ---- */

/* x[n][n_embd] normed, or as it is where the family has no such norm */
static double *normed(size_t il, const char *name, const double *x, size_t n)
{
	double *y = copy(x, n * m.n_embd);

	if (*name)
		norm_in_place(part(il, name), y, n, m.n_embd);
	return y;
}

static double *feed_forward_part(size_t il, const double *h, const double *input, size_t n)
{
	double *branch = has(il, "ffn_gate_inp") ? mixture(il, h, m.rules->routes_input ? input : h, n)
		: dense(il, h, n);

	if (m.rules->post_norms)
		norm_in_place(part(il, "post_ffw_norm"), branch, n, m.n_embd);
	return branch;
}

/* x[n][n_embd] through layer il */
static void layer(size_t il, double *x, size_t n)
{
	const char *norm1 = m.rules->norm1 ? m.rules->norm1 : "attn_norm";
	const char *norm2 = m.rules->norm2 ? m.rules->norm2 : "ffn_norm";
	double *input = copy(x, n * m.n_embd), *h;

	h = normed(il, m.parallel && has(il, "attn_norm_2") ? "attn_norm_2" : norm1, x, n);
	add(x, attention_part(il, h, n), n);
	free(h);
	h = normed(il, m.parallel && !has(il, norm2) ? norm1 : norm2, m.parallel ? input : x, n);
	add(x, feed_forward_part(il, h, input, n), n);
	free(h);
	free(input);
}

/* x[n][n_embd] of the ids at positions 0 to n-1 */
static double *embedded(const int *ids, size_t n)
{
	float *embd = weights(&m, m.n_vocab * m.n_embd, "token_embd.weight");
	size_t n_position = n_weights(&m, "position_embd.weight");
	float *position = weights(&m, n_position, "position_embd.weight");
	double *x = memory(n * m.n_embd, sizeof *x);

	if (n_position && n_position < n * m.n_embd)
		die("more ids than positions");
	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < m.n_embd; e++)
			x[i * m.n_embd + e] = embd[(size_t)ids[i] * m.n_embd + e] * m.embedding_scale
				+ (position ? (double)position[i * m.n_embd + e] : 0);
	if (n_weights(&m, "token_embd_norm.weight") && !m.rules->late_embd_norm)
		norm_in_place("token_embd_norm", x, n, m.n_embd);
	free(embd);
	free(position);
	return x;
}

/* logits[n][n_vocab]; free() them */
static double *forward(const int *ids, size_t n)
{
	double *x = embedded(ids, n), *logits;

	for (size_t il = 0; il < m.n_layer; il++)
		layer(il, x, n);
	norm_in_place(m.rules->late_embd_norm ? "token_embd_norm" : "output_norm", x, n, m.n_embd);
	logits = linear(n_weights(&m, "output.weight") ? "output" : "token_embd", x, n, m.n_embd, m.n_vocab);
	for (size_t i = 0; i < n * m.n_vocab; i++) {
		logits[i] *= m.logit_scale;
		if (m.logit_cap > 0)
			logits[i] = m.logit_cap * tanh(logits[i] / m.logit_cap);
	}
	free(x);
	return logits;
}

static void write_logits(const int *ids, size_t n)
{
	struct frame f = { FRAME_LOGITS, (uint32_t)n, (uint32_t)m.n_vocab, FRAME_F32, 0, 0, 0 };
	double *logits = forward(ids, n);
	float *rounded = memory(n * m.n_vocab, sizeof *rounded);
	struct why w;

	for (size_t i = 0; i < n * m.n_vocab; i++)
		rounded[i] = (float)logits[i];
	if (frame_write(1, &f, rounded, &w))
		die("%s", w.text);
	free(logits);
	free(rounded);
}

int main(int argc, char **argv)
{
	size_t greedy = argc == 4 && !strcmp(argv[1], "-n") ? (size_t)atoi(argv[2]) : 0, n = 0;
	static int ids[IDS_MAX];
	struct gguf *file;
	struct why w;

	if (argc != (greedy ? 4 : 2))
		die("usage: reference [-n N] MODEL < ids");
	if (!(file = gguf_open(argv[argc - 1], 1, &w)))
		die("%s", w.text);
	reference_read(&m, file);
	while (n < IDS_MAX && scanf("%d", &ids[n]) == 1)
		if (ids[n] < 0 || (size_t)ids[n++] >= m.n_vocab)
			die("id outside the vocabulary");
	for (size_t i = 0; i < greedy && n < IDS_MAX; i++) {
		double *logits = forward(ids, n);

		ids[n] = (int)greatest(logits + (n - 1) * m.n_vocab, m.n_vocab);
		printf("%d%c", ids[n++], i + 1 < greedy ? ' ' : '\n');
		free(logits);
	}
	if (!greedy && n)
		write_logits(ids, n);
	gguf_close(file);
	return fflush(stdout) != 0;
}
