/* reference_mixture: mixtures of experts. */
#include "reference_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps the scores s of the best groups of experts, where a group counts by the sum of its two largest; the others
 * become -infinity. */
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

/* Chooses the n_used experts of a row by the router's logits z, or takes the given ones, and computes their weights. */
static void choose(double *z, const float *bias, const int32_t *given, size_t *chosen, double *weight)
{
	double s[REFERENCE_EXPERTS], sum = 0;

	if (m.gate == GATE_SOFTMAX)
		softmax(z, m.n_expert);
	for (size_t e = 0; e < m.n_expert; e++) {
		s[e] = z[e];
		z[e] = m.gate == GATE_SIGMOID ? sigmoid(z[e])
			: m.gate == GATE_ROOT ? sqrt(log1p(exp(z[e]))) : z[e];
		if (!m.rules->weighs_inputs)
			s[e] = z[e] + (bias ? bias[e] : 0);
	}
	if (m.n_groups > 1)
		limit_groups(s);
	for (size_t u = 0; u < m.n_used; u++) {
		chosen[u] = given ? (size_t)given[u] : greatest(s, m.n_expert);
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

struct expert_matrices {                /* all experts one after the other; biases may be NULL */
	float *gate, *up, *down, *gate_bias, *up_bias, *down_bias;
	size_t width, n_ff;             /* elements of an expert's input and output, and of its hidden layer */
	double limit;
};

/* The matrices WHAT of n_expert experts, n values each, each times its expert's factor in WHAT.scale, if there is
 * one. */
static float *scaled(size_t il, const char *what, const char *suffix, size_t n_expert, size_t n)
{
	float *x = weights(&m, n_expert * n, "blk.%zu.%s_%s.weight", il, what, suffix);
	float *scale = weights(&m, n_expert, "blk.%zu.%s_%s.scale", il, what, suffix);

	for (size_t i = 0; i < n_expert * n && x && scale; i++)
		x[i] *= scale[i / n];
	free(scale);
	return x;
}

/* Splits ffn_gate_up, in which each expert has the gate's rows, then those of up. */
static void split_gate_up(size_t il, const char *suffix, size_t n_expert, struct expert_matrices *x)
{
	size_t n = x->n_ff * x->width;
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

static struct expert_matrices expert_matrices(size_t il, const char *suffix, size_t n_expert, size_t width)
{
	size_t n_ff = n_weights(&m, "blk.%zu.ffn_down_%s.weight", il, suffix) / width / n_expert;
	struct expert_matrices x = { .width = width, .n_ff = n_ff };

	x.gate = scaled(il, "ffn_gate", suffix, n_expert, n_ff * width);
	x.up = scaled(il, "ffn_up", suffix, n_expert, n_ff * width);
	x.down = scaled(il, "ffn_down", suffix, n_expert, n_ff * width);
	x.gate_bias = weights(&m, n_expert * n_ff, "blk.%zu.ffn_gate_%s.bias", il, suffix);
	x.up_bias = weights(&m, n_expert * n_ff, "blk.%zu.ffn_up_%s.bias", il, suffix);
	x.down_bias = weights(&m, n_expert * width, "blk.%zu.ffn_down_%s.bias", il, suffix);
	if (!x.gate && !x.up)
		split_gate_up(il, suffix, n_expert, &x);
	if ((!x.gate && !m.rules->ungated) || !x.up || !x.down)
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

/* out[width] += weight · (expert e of x[width]) */
static void expert(const struct expert_matrices *w, size_t e, const double *x, double weight, double *out)
{
	size_t width = w->width, n_ff = w->n_ff, n = n_ff * width;
	double *in = copy(x, width), *gate = memory(n_ff, sizeof *gate), *up = memory(n_ff, sizeof *up);
	double *y = memory(width, sizeof *y);

	for (size_t i = 0; i < width && m.rules->weighs_inputs; i++)
		in[i] *= weight;
	if (w->gate)
		product(gate, w->gate + e * n, w->gate_bias ? w->gate_bias + e * n_ff : NULL, in, 1, width, n_ff);
	product(up, w->up + e * n, w->up_bias ? w->up_bias + e * n_ff : NULL, in, 1, width, n_ff);
	for (size_t i = 0; i < n_ff; i++)
		up[i] = w->gate ? gated(gate[i], up[i], w->limit) : activation(NULL, up[i]);
	product(y, w->down + e * n, w->down_bias ? w->down_bias + e * width : NULL, up, 1, n_ff, width);
	for (size_t i = 0; i < width; i++)
		out[i] += y[i] * (m.rules->weighs_inputs ? 1 : weight);
	free(in);
	free(gate);
	free(up);
	free(y);
}

/* out[n][n_embd] += the shared expert, which every row goes through; it may have a gate. */
static void shared_expert(size_t il, const double *x, size_t n, double *out)
{
	struct expert_matrices w = expert_matrices(il, "shexp", 1, m.n_embd);
	float *gate = weights(&m, m.n_embd, "blk.%zu.ffn_gate_inp_shexp.weight", il);

	w.limit = m.layer[il].limit;
	for (size_t i = 0; i < n; i++) {
		double z = 0;

		for (size_t e = 0; e < m.n_embd && gate; e++)
			z += gate[e] * x[i * m.n_embd + e];
		expert(&w, 0, x + i * m.n_embd, gate ? 1 / (1 + exp(-z)) : 1, out + i * m.n_embd);
	}
	free(gate);
	expert_free(&w);
}

/* out[n][n_embd] += adjugate experts, which read out. They are chosen by the same scores z; adjugate a has the score of
 * expert a, divided by the sum over those used, as its weight. */
static void adjugates(size_t il, const double *z, size_t n, double *out)
{
	size_t n_adjugates = m.n_expert / m.stand_for, n_used = m.n_used < n_adjugates ? m.n_used : n_adjugates;
	struct expert_matrices w = expert_matrices(il, "chexps", n_adjugates, m.n_embd);

	for (size_t i = 0; i < n; i++) {
		double *s = copy(z + i * m.n_expert, m.n_expert), *x = copy(out + i * m.n_embd, m.n_embd), sum = 0;
		size_t chosen[REFERENCE_EXPERTS];

		for (size_t u = 0; u < n_used; u++) {
			size_t best = greatest(s, m.n_expert);

			s[best] = -INFINITY;
			chosen[u] = best / m.stand_for;
			sum += z[i * m.n_expert + chosen[u]];
		}
		for (size_t u = 0; u < n_used; u++)
			expert(&w, chosen[u], x, m.adjugates_scale * z[i * m.n_expert + chosen[u]] / sum,
				out + i * m.n_embd);
		free(s);
		free(x);
	}
	expert_free(&w);
}

/* Returns the table [n_vocab][n_used] of experts by id, or NULL if the layer has a router instead. */
static const int32_t *experts_of_ids(size_t il)
{
	char name[64];
	const struct gguf_tensor *t;

	snprintf(name, sizeof name, "blk.%zu.ffn_gate_tid2eid.weight", il);
	t = gguf_tensor(m.g, name);
	return t ? t->data : NULL;
}

/* Returns [n][n_embd] for x[n][n_embd]; `input` is what the router reads. */
double *mixture(size_t il, const double *x, const double *input, size_t n)
{
	const char *to = has(il, "ffn_routed_down") ? "ffn_routed_down" : "ffn_latent_down";
	size_t latent = n_weights(&m, "%s.weight", part(il, to)) / m.n_embd;
	size_t width = latent ? latent : m.n_embd;
	struct expert_matrices w = expert_matrices(il, "exps", m.n_expert, width);
	double *in = latent ? linear(part(il, to), x, n, m.n_embd, latent) : copy(x, n * m.n_embd);
	double *z = linear(part(il, "ffn_gate_inp"), input, n, m.n_embd, m.n_expert);
	double *out = memory(n * width, sizeof *out), *back, weight[REFERENCE_EXPERTS];
	const char *suffix = n_weights(&m, "blk.%zu.exp_probs_b", il) ? "" : ".bias";
	float *bias = weights(&m, m.n_expert, "blk.%zu.exp_probs_b%s", il, suffix);
	const int32_t *given = experts_of_ids(il);
	size_t chosen[REFERENCE_EXPERTS];

	w.limit = m.layer[il].limit_experts;
	for (size_t i = 0; i < n; i++) {
		choose(z + i * m.n_expert, bias, given ? given + (size_t)m.ids[i] * m.n_used : NULL, chosen, weight);
		for (size_t u = 0; u < m.n_used; u++)
			expert(&w, chosen[u], in + i * width, weight[u], out + i * width);
	}
	if (latent) {
		if (has(il, "ffn_routed_norm"))
			norm_in_place(part(il, "ffn_routed_norm"), out, n, latent);
		back = linear(part(il, has(il, "ffn_routed_up") ? "ffn_routed_up" : "ffn_latent_up"), out, n, latent,
			m.n_embd);
		free(out);
		out = back;
	}
	if (m.stand_for)
		adjugates(il, z, n, out);
	if (has(il, "ffn_down_shexp"))
		shared_expert(il, x, n, out);
	for (size_t i = 0; i < n * m.n_embd && m.rules->averaged && has(il, "ffn_down_shexp"); i++)
		out[i] /= 2;
	free(in);
	free(z);
	free(bias);
	expert_free(&w);
	return out;
}
