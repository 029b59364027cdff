/* reference: an independent forward pass in double precision, for tests only. It is written to be checked by eye:
 * weights are widened to double, a whole prompt goes through one layer at a time, every sum is a plain loop, and
 * nothing is cached. This file has what families share; struct rules (reference_model.h) has what they differ in.
 * Formulas: the families' papers; RoPE (Su et al. 2021), YaRN (Peng et al. 2023), ALiBi (Press et al. 2022), mixtures
 * of experts (Shazeer et al. 2017), group-limited routing (DeepSeek-AI 2024).
 *
 * reference MODEL < ids > stream          decimal ids in, one frame of logits out: a row for every id
 * reference -l 3 MODEL < ids > stream     the same after the first 3 layers
 * reference -e mean MODEL < ids > stream  the embedding, pooled in this way (none, mean, cls, last, rank)
 * reference -n 16 MODEL < ids             the 16 greedy ids that follow, as text */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/frame.h"
#include "reference_parts.h"

enum { IDS_MAX = 4096 };

struct reference m;

/* ---- a layer ---- */

/* Multiplies y[n][n_embd] by gates: sigmoids of two products of y. Does nothing if this norm has no gates. */
static void multiply_norm_gates(size_t il, const char *norm, double *y, size_t n)
{
	size_t rank = n_weights(&m, "blk.%zu.%s_gate_a.weight", il, norm) / m.n_embd;
	char a[64], b[64];
	double *low, *gate;

	if (!rank)
		return;
	snprintf(a, sizeof a, "blk.%zu.%s_gate_a", il, norm);
	snprintf(b, sizeof b, "blk.%zu.%s_gate_b", il, norm);
	low = linear(a, y, n, m.n_embd, rank);
	for (size_t i = 0; i < n * rank; i++)
		low[i] *= sigmoid(low[i]);
	gate = linear(b, low, n, rank, m.n_embd);
	for (size_t i = 0; i < n * m.n_embd; i++)
		y[i] *= sigmoid(gate[i]);
	free(low);
	free(gate);
}

/* Returns x[n][n_embd] normed, or a copy of x if `name` is "". */
static double *normed(size_t il, const char *name, const double *x, size_t n)
{
	double *y = copy(x, n * m.n_embd);

	if (*name)
		norm_in_place(part(il, name), y, n, m.n_embd);
	multiply_norm_gates(il, name, y, n);
	return y;
}

/* Sets the gates in x[n][n_ff] to 0 up to mean + deviations × standard deviation of their row; subtracts that from the
 * others. */
static void sparsify(double deviations, double *x, size_t n)
{
	for (size_t i = 0; i < n && deviations > 0; i++) {
		double *a = x + i * m.n_ff, mean = 0, square = 0;

		for (size_t k = 0; k < m.n_ff; k++)
			mean += a[k] / (double)m.n_ff;
		for (size_t k = 0; k < m.n_ff; k++)
			square += (a[k] - mean) * (a[k] - mean) / (double)(m.n_ff - 1);
		for (size_t k = 0; k < m.n_ff; k++)
			a[k] = fmax(a[k] - mean - deviations * sqrt(square), 0);
	}
}

/* Divides activations by ffn.act.scales, if the file has them. */
static void divide(size_t il, double *x, size_t n)
{
	float *by;

	if (!n_weights(&m, "%s.scales", part(il, "ffn.act")))
		return;
	by = weights(&m, m.n_ff, "%s.scales", part(il, "ffn.act"));
	for (size_t i = 0; i < n * m.n_ff; i++)
		x[i] /= (double)by[i % m.n_ff];
	free(by);
}

static double *dense(size_t il, const double *x, size_t n)
{
	double *up, *gate, *down;

	if (m.rules->ungated && !has(il, "ffn_gate")
	    && n_weights(&m, "%s.weight", part(il, "ffn_up")) == m.n_ff * m.n_embd) {
		up = linear(part(il, "ffn_up"), x, n, m.n_embd, m.n_ff);
		for (size_t i = 0; i < n * m.n_ff; i++)
			up[i] = activation(m.layer[il].xielu, up[i]);
		divide(il, up, n);
	} else {                        /* ffn_up has the rows of both: the gate's, then its own */
		size_t first = has(il, "ffn_gate") ? 0 : m.n_ff;
		double *both = linear(part(il, "ffn_up"), x, n, m.n_embd, first + m.n_ff);

		gate = first ? columns(both, n, 2 * m.n_ff, 0, m.n_ff)
			: linear(part(il, "ffn_gate"), x, n, m.n_embd, m.n_ff);
		up = columns(both, n, first + m.n_ff, first, m.n_ff);
		sparsify(m.layer[il].sparsity, gate, n);
		for (size_t i = 0; i < n * m.n_ff; i++)
			up[i] = gated(gate[i], up[i], m.layer[il].limit);
		free(gate);
		free(both);
	}
	if (has(il, "ffn_sub_norm"))
		norm_in_place(part(il, "ffn_sub_norm"), up, n, m.n_ff);
	down = linear(part(il, "ffn_down"), up, n, m.n_ff, m.n_embd);
	free(up);
	return down;
}

/* The dense part of h plus the experts of x, each with norms of its own; the router reads x normed and scaled. */
static double *beside(size_t il, const double *h, const double *x, size_t n)
{
	double *sum = dense(il, h, n), *input = copy(x, n * m.n_embd), *experts;
	double *in = normed(il, "pre_ffw_norm_2", x, n);
	float *weight = weights(&m, m.n_embd, "%s.scale", part(il, "ffn_gate_inp"));

	bare_norm_rows(input, n, m.n_embd);
	for (size_t i = 0; i < n * m.n_embd; i++)
		input[i] *= weight[i % m.n_embd] / sqrt((double)m.n_embd);
	experts = mixture(il, in, input, n);
	norm_in_place(part(il, "post_ffw_norm_1"), sum, n, m.n_embd);
	norm_in_place(part(il, "post_ffw_norm_2"), experts, n, m.n_embd);
	add(sum, experts, n);
	free(input);
	free(in);
	free(weight);
	return sum;
}

/* The dense part of h plus the experts, which read the layer's input, or h (then the sum is divided by √2). */
static double *with_dense(size_t il, const double *h, const double *input, size_t n)
{
	int of_input = m.rules->with_dense == EXPERTS_OF_INPUT;
	double *sum = dense(il, h, n), *in = of_input ? normed(il, "ffn_norm_exps", input, n) : copy(h, n * m.n_embd);

	add(sum, mixture(il, in, in, n), n);
	for (size_t i = 0; i < n * m.n_embd && !of_input; i++)
		sum[i] *= sqrt(0.5);
	free(in);
	return sum;
}

double *feed_forward_part(size_t il, const double *h, const double *input, size_t n)
{
	double *branch;

	if (has(il, "channel_mix_key"))
		branch = (has(il, "channel_mix_receptance") ? channel_mix6 : channel_mix)(il, h, n);
	else if (!has(il, "ffn_gate_inp"))
		branch = dense(il, h, n);
	else if (m.rules->beside)
		branch = beside(il, h, input, n);
	else if (m.rules->with_dense && has(il, "ffn_up"))
		branch = with_dense(il, h, input, n);
	else
		branch = mixture(il, h, m.rules->routes_input ? input : h, n);
	if (m.rules->post_norms)
		norm_branch(il, "post_ffw_norm", branch, n);
	return branch;
}

/* Adds to x the branches of h that mix positions. A layer may have none, or several side by side. */
static void mix(size_t il, double *x, const double *h, size_t n)
{
	if (has(il, "shortconv.conv"))
		add(x, convolution(il, h, n), n);
	if (has(il, "ssm_ba") || has(il, "ssm_alpha") || (has(il, "ssm_f_a") && has(il, "ssm_out")))
		add(x, delta_net(il, h, n), n);
	else if (has(il, "ssm_in"))
		add(x, (m.rules->plamo2 ? mamba_plamo2 : has(il, "ssm_x") ? mamba : mamba2)(il, h, n), n);
	if (has(il, "time_mix_output"))
		add(x, (has(il, "time_mix_decay") ? time_mix6 : time_mix)(il, h, n), n);
	if (has(il, "ssm_f_a") && !has(il, "ssm_out"))
		add(x, kda(il, h, n), n);
	else if (has(il, "attn_output"))
		add(x, attention_part(il, h, n), n);
}

/* Both branches read x without a norm; their results are normed instead. */
static void layer_of_normed_branches(size_t il, double *x, size_t n)
{
	double *branch = attention_part(il, x, n), *second;

	norm_in_place(part(il, "attn_norm"), branch, n, m.n_embd);
	second = dense(il, branch, n);
	add(x, branch, n);
	norm_in_place(part(il, "ffn_norm"), second, n, m.n_embd);
	add(x, second, n);
}

/* Each branch reads x as it is; the sum of both is normed. */
static void layer_of_normed_sums(size_t il, double *x, size_t n)
{
	double *input = copy(x, n * m.n_embd);

	add(x, attention_part(il, x, n), n);
	norm_in_place(part(il, "attn_output_norm"), x, n, m.n_embd);
	if (has(il, "attn_norm_2")) {
		add(x, copy(input, n * m.n_embd), n);
		norm_in_place(part(il, "attn_norm_2"), x, n, m.n_embd);
	}
	add(x, feed_forward_part(il, x, x, n), n);
	norm_in_place(part(il, "layer_output_norm"), x, n, m.n_embd);
	free(input);
}

/* Each branch is added to the normed rows that it read, times normed_scale; x becomes the sum. */
static void layer_of_normed_rows(size_t il, double *x, size_t n)
{
	double *branch;

	norm_in_place(part(il, "attn_norm"), x, n, m.n_embd);
	branch = (has(il, "attn_norm_2") ? lightning : attention_part)(il, x, n);
	for (size_t i = 0; i < n * m.n_embd; i++)
		x[i] *= m.normed_scale;
	add(x, branch, n);
	norm_in_place(part(il, "ffn_norm"), x, n, m.n_embd);
	branch = feed_forward_part(il, x, x, n);
	for (size_t i = 0; i < n * m.n_embd; i++)
		x[i] *= m.normed_scale;
	add(x, branch, n);
}

/* x *= layer_output_scale, or, in families that carry the embedding, x += layer_output_scale · embedding. */
static void scale_output(size_t il, double *x, size_t n)
{
	float *scale = weights(&m, 1, "%s.weight", part(il, "layer_output_scale"));

	for (size_t i = 0; i < n * m.n_embd && scale; i++)
		x[i] = m.rules->carries_embedding ? x[i] + m.embedded[i] * *scale : x[i] * *scale;
	free(scale);
}

/* x[n][n_embd] = layer il of x; inputs: the per-layer inputs, in models that have them */
static void layer(size_t il, double *x, const double *inputs, size_t n)
{
	const char *norm1 = m.rules->norm1 ? m.rules->norm1 : "attn_norm";
	const char *norm2 = m.rules->norm2 ? m.rules->norm2 : "ffn_norm";
	double *input = copy(x, n * m.n_embd), *h;

	/* ModernBERT's first layer; elsewhere, norms without weights are in no file */
	if (m.sees_all && *norm1 && !has(il, norm1) && !n_weights(&m, "%s", part(il, norm1)))
		norm1 = "";
	h = normed(il, m.parallel && has(il, "attn_norm_2") ? "attn_norm_2" : norm1, x, n);
	mix(il, x, h, n);
	free(h);
	if (has(il, "ffn_down") || has(il, "ffn_gate_inp") || has(il, "channel_mix_key")) {
		h = normed(il, m.parallel && !has(il, norm2) ? norm1 : norm2, m.parallel ? input : x, n);
		add(x, feed_forward_part(il, h, m.rules->beside ? x : input, n), n);
		free(h);
	}
	if (m.n_per_layer)
		add(x, own_input_part(il, inputs, x, n), n);
	scale_output(il, x, n);
	for (size_t i = 0; i < n * m.n_embd && m.halved && (il + 1) % m.halved == 0; i++)
		x[i] /= 2;
	free(input);
}

/* Returns the number (from 1) of the adapter that this id switches on, and in *embedded the id to embed in its place; 0
 * if it switches none on. */
static size_t switched_by(int id, int *embedded)
{
	const struct gguf_value *on = reference_array(&m, "adapters.token_ids_activate");
	const struct gguf_value *in_place = reference_array(&m, "adapters.token_ids_substitute");

	for (size_t i = m.n_adapters; i > 0; i--)
		if (gguf_element_integer(on, i - 1) == id) {
			*embedded = (int)gguf_element_integer(in_place, i - 1);
			return i;
		}
	return 0;
}

/* Sets m.adapter[n] to the rounded mean of the adapters switched on up to each row. Returns the ids to embed, [n]. */
static int *switch_adapters(const int *ids, size_t n)
{
	int *embedded = memory(n, sizeof *embedded);
	double sum = 0, count = 0;

	m.adapter = memory(n, sizeof *m.adapter);
	for (size_t i = 0; i < n; i++) {
		size_t on = m.n_adapters ? switched_by(ids[i], &embedded[i]) : 0;

		embedded[i] = on ? embedded[i] : ids[i];
		sum += (double)on;
		count += on ? 1 : m.other_ids;
		m.adapter[i] = m.n_adapters ? (size_t)roundf((float)(sum / count)) : 0;
	}
	return embedded;
}

double *embedded(const int *ids, size_t n)
{
	float *embd = weights(&m, m.n_vocab * m.n_embd, reference_embedding(&m));
	size_t n_position = n_weights(&m, "position_embd.weight");
	float *position = weights(&m, n_position, "position_embd.weight");
	float *types = weights(&m, n_weights(&m, "token_types.weight"), "token_types.weight");
	double *x = memory(n * m.n_embd, sizeof *x);

	if (n_position && n_position < n * m.n_embd)
		die("more ids than positions");
	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < m.n_embd; e++)
			x[i * m.n_embd + e] = embd[(size_t)ids[i] * m.n_embd + e] * m.embedding_scale
				+ (position ? (double)position[i * m.n_embd + e] : 0);
	if (m.normed_embedding)
		bare_norm_rows(x, n, m.n_embd);
	for (size_t i = 0; i < n * m.n_embd && types; i++)
		x[i] += (double)types[i % m.n_embd];
	if (n_weights(&m, "token_embd_norm.weight")
	    && !(m.rules->last_norm && !strcmp(m.rules->last_norm, "token_embd_norm")))
		norm_in_place("token_embd_norm", x, n, m.n_embd);
	free(embd);
	free(position);
	free(types);
	return x;
}

/* HRM, before the i-th run of a layer: at the start of a run of a stack, x becomes the sum of the latest results of
 * both stacks. m.other keeps the result that the run after this one needs. */
static void sum_stacks(size_t i, double *x, size_t n)
{
	size_t pass = i / m.stack % m.cycle, all = n * m.n_embd;
	double *result = copy(x, all);

	if (i == 0) {
		float *first = weights(&m, m.n_embd, "hrm.z_l_init");

		m.other = copy(x, all);
		for (size_t k = 0; k < all; k++)
			x[k] += first[k % m.n_embd];
		free(first);
	} else {
		bare_norm_rows(result, n, m.n_embd);
		for (size_t k = 0; k < all; k++)
			x[k] = result[k] + m.other[k];
		if (pass == 0 || pass + 1 == m.cycle)
			memcpy(m.other, result, all * sizeof *result);
	}
	free(result);
}

/* The number in the file of the layer that is run i-th. */
static size_t layer_of(size_t i)
{
	return !m.stack ? i % m.n_layer : i % m.stack + (i / m.stack % m.cycle + 1 == m.cycle ? m.stack : 0);
}

/* Returns logits[n][n_vocab] of x[n][n_embd], by the final norm and the output matrix. Frees x. */
static double *head(double *x, size_t n)
{
	double *logits;

	if (!m.gated_streams)
		norm_in_place(m.rules->last_norm ? m.rules->last_norm : "output_norm", x, n, m.n_embd);
	logits = linear(n_weights(&m, "output.weight") ? "output" : "token_embd", x, n, m.n_embd, m.n_vocab);
	for (size_t i = 0; i < n * m.n_vocab; i++) {
		logits[i] *= m.logit_scale;
		if (m.logit_cap > 0)
			logits[i] = m.logit_cap * tanh(logits[i] / m.logit_cap);
		if (i % m.n_vocab >= m.no_text_from && i % m.n_vocab < m.no_text_to)
			logits[i] = -FLT_MAX;
	}
	free(x);
	return logits;
}

/* Returns x[n][n_embd] after `layers` layers. */
static double *forward(const int *ids, size_t n, size_t layers)
{
	int *in_place = switch_adapters(ids, n);
	double *x = embedded(in_place, n), *inputs = m.n_per_layer ? layer_inputs(ids, x, n) : NULL;

	m.ids = ids;
	m.embedded = copy(x, n * m.n_embd);
	if (m.n_streams > 1)
		x = (m.magnitude > 0 ? hyper_streams : streams_of)(x, n);
	for (size_t i = 0; i < layers; i++) {
		size_t il = layer_of(i);

		if (m.stack && i % m.stack == 0)
			sum_stacks(i, x, n);
		if (i && il == 0 && m.norms_between)
			norm_in_place("output_norm", x, n, m.n_embd);
		reference_enter(&m, il);
		if (m.recalled_layers)
			recall_blocks(il, x, n);
		if (m.gated_streams)
			gated_layer(il, x, n);
		else if (m.magnitude > 0)
			hyper_layer(il, x, n);
		else if (m.block_layers)
			residuals_layer(il, x, n);
		else if (m.n_streams > 1)
			streams_layer(il, x, inputs, n);
		else if (m.normed_scale > 0)
			layer_of_normed_rows(il, x, n);
		else if (m.rules->norms_sums)
			layer_of_normed_sums(il, x, n);
		else if (m.norms_branches)
			layer_of_normed_branches(il, x, n);
		else
			layer(il, x, inputs, n);
	}
	if (m.n_streams > 1)
		x = (m.gated_streams ? gated_united : m.magnitude > 0 ? hyper_united : united)(x, n);
	if (m.block_layers) {
		double *y = recalled("output_res_score", x, n);

		free(x);
		x = y;
	}
	free(inputs);
	free(in_place);
	free(m.adapter);
	free(m.embedded);
	free(m.other);
	m.other = NULL;
	return x;
}

/* Returns the logits of rows text_end() to n - 1, after `layers` layers. */
static double *logits_of(const int *ids, size_t n, size_t layers)
{
	return head((m.encoder_layers ? decoded : forward)(ids, n, layers), n - text_end(ids, n));
}

static void write_logits(const int *ids, size_t n, size_t layers)
{
	size_t first = text_end(ids, n), all = (n - first) * m.n_vocab;
	struct frame f = { FRAME_LOGITS, (uint32_t)(n - first), (uint32_t)m.n_vocab, FRAME_F32, 0, (uint32_t)first, 0 };
	double *logits = logits_of(ids, n, layers);
	float *rounded = memory(all, sizeof *rounded);
	struct why w;

	for (size_t i = 0; i < all; i++)
		rounded[i] = (float)logits[i];
	if (frame_write(1, &f, rounded, &w))
		die("%s", w.text);
	free(logits);
	free(rounded);
}

static void write_embedding(const int *ids, size_t n, uint32_t pooling)
{
	struct frame f = { FRAME_EMBEDDINGS, 1, 0, FRAME_F32, pooling, 0, 0 };
	size_t rows, cols;
	double *x = embedding((n_weights(&m, "enc.blk.0.attn_rel_b.weight") ? encoded : forward)(ids, n, m.n_layer), n,
		pooling, &rows, &cols);
	float *rounded = memory(rows * cols, sizeof *rounded);
	struct why w;

	for (size_t i = 0; i < rows * cols; i++)
		rounded[i] = (float)x[i];
	f.rows = (uint32_t)rows;
	f.cols = (uint32_t)cols;
	if (frame_write(1, &f, rounded, &w))
		die("%s", w.text);
	free(x);
	free(rounded);
}

static uint32_t pooling_named(const char *name)
{
	uint32_t i = 0;

	while (i < POOLINGS && strcmp(frame_pooling_name(i), name))
		i++;
	return i < POOLINGS ? i : (die("-e: %s", name), 0);
}

int main(int argc, char **argv)
{
	const char *pooling = argc == 4 && !strcmp(argv[1], "-e") ? argv[2] : NULL;
	size_t greedy = argc == 4 && !strcmp(argv[1], "-n") ? (size_t)atoi(argv[2]) : 0, n = 0;
	size_t layers = argc == 4 && !strcmp(argv[1], "-l") ? (size_t)atoi(argv[2]) : 0;
	static int ids[IDS_MAX];
	size_t all;
	struct gguf *file;
	struct why w;

	if (argc != (greedy || layers || pooling ? 4 : 2))
		die("usage: reference [-n N | -l LAYERS | -e POOLING] MODEL < ids");
	if (!(file = gguf_open(argv[argc - 1], 1, &w)))
		die("%s", w.text);
	reference_read(&m, file);
	all = m.n_layer * m.times;
	while (n < IDS_MAX && scanf("%d", &ids[n]) == 1)
		if (ids[n] < 0 || (size_t)ids[n++] >= m.n_vocab)
			die("id outside the vocabulary");
	for (size_t i = 0; i < greedy && n < IDS_MAX; i++) {
		double *logits = logits_of(ids, n, all);

		ids[n] = (int)greatest(logits + (n - 1 - text_end(ids, n)) * m.n_vocab, m.n_vocab);
		printf("%d%c", ids[n++], i + 1 < greedy ? ' ' : '\n');
		free(logits);
	}
	if (pooling && n)
		write_embedding(ids, n, pooling_named(pooling));
	else if (!greedy && n)
		write_logits(ids, n, layers && layers < all ? layers : all);
	gguf_close(file);
	return fflush(stdout) != 0;
}
