/* RWKV 6 and 7 (Peng et al. 2024, 2025): in place of attention, a matrix for each head, whose keys decay one by one; in
 * 7 it corrects itself by a rule of one step. */
#include "build.h"

#include <string.h>

#include "lib/base/size.h"
#include "families.h"
#include "keys.h"
#include "mixers.h"

/* A row of the time mix: six outputs as the shift leaves them, each replaced by what its matrices make of it, and the
 * weights of the first layer's values. */
enum { R, W, K, V, A, G, FIRST, OUTPUTS };

/* Each row with some of the row before, by weights[outputs][n]. */
static void shift(struct builder *b, const char *weights, size_t outputs, struct buffer to)
{
	size_t n = b->model->n_embd;
	struct op_shift o = { .n = n, .outputs = outputs, .in = buffer_with(b->plan->h, n), .out = to,
		.weight = build_vector(b, weights, "weight", outputs * n), .state = build_state(b, n) };

	b->plan->scanned = 1;
	build_leaves(build_append(b, &op_shift, weights, &o, sizeof o), 0, "", to, outputs * n);
}

/* y = second · f(first · x) + bias. */
struct low_rank {
	const char *first, *second, *bias;
	size_t rank;
	enum row_function f;
};

static void low_rank(struct builder *b, struct packed *x, const struct low_rank *l, struct buffer low, struct buffer y)
{
	struct op_rows f = { .n = l->rank, .in = low, .out = low, .f = l->f, .unary = UNARY_SIGMOID };
	struct op_product o = { .n = 0 };

	build_product(b, x, l->first, WIDE, l->rank, low);
	build_packing(b, l->second, &f, SLOT_BRANCH);
	o.x = f.packed;
	build_add_product(b, &o, l->second, WIDE, b->model->n_embd, y);
	if (l->bias)
		o.bias[0] = build_vector(b, l->bias, "weight", b->model->n_embd);
	build_products(b, l->second, &o);
}

/* The outputs of the shift, each times its matrices; the last may be missing. */
static void mix_outputs(struct builder *b, struct buffer wide, size_t outputs)
{
	static const char *const whole[OUTPUTS] = { [R] = "time_mix_receptance", [K] = "time_mix_key",
		[V] = "time_mix_value" };
	const struct ssm *s = &b->model->ssm;
	const struct low_rank low[OUTPUTS] = {
		[W] = { "time_mix_w1", "time_mix_w2", "time_mix_w0", s->rank_w, ROW_TANH },
		[A] = { "time_mix_a1", "time_mix_a2", "time_mix_a0", s->rank_a, ROW_SAME },
		[G] = { "time_mix_g1", "time_mix_g2", NULL, s->rank_g, ROW_UNARY },
		[FIRST] = { "time_mix_v1", "time_mix_v2", "time_mix_v0", s->rank_v, ROW_SAME },
	};
	size_t n = b->model->n_embd;
	struct buffer spare = buffer_at(wide, OUTPUTS * n);

	for (size_t i = R; i < outputs; i++) {
		struct buffer output = buffer_at(wide, i * n);
		struct packed *x = build_pack(b, whole[i] ? whole[i] : low[i].first, output, n, SLOT_NORMED);

		if (i == V && b->il)
			low_rank(b, x, &low[FIRST], spare, buffer_at(wide, FIRST * n));
		if (whole[i])
			build_product(b, x, whole[i], WIDE, n, output);
		else
			low_rank(b, x, &low[i], spare, output);
	}
}

/* The first layer has weights of the first layer's values, too. */
static void ignore_first(struct builder *b)
{
	static const char *const unused[] = { "time_mix_v0", "time_mix_v1", "time_mix_v2" };

	for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
		model_ignore(b->model, build_name(b, unused[i], "weight").s);
}

/* The norm of the state's results, if there is one. */
static struct norm result_norm(struct builder *b)
{
	struct norm norm = { .kind = NORM_NONE };

	if (build_has(b, "time_mix_ln")) {
		norm = build_norm_of(b, "time_mix_ln", b->model->n_embd);
		norm.kind = NORM_LAYER;
		norm.eps = 64e-5f;
	}
	return norm;
}

static struct packed *time_mix(struct builder *b)
{
	const struct ssm *s = &b->model->ssm;
	size_t n = b->model->n_embd;
	struct buffer wide = buffer_with(b->plan->wide, OUTPUTS * n + mixers_rank(s));
	struct op_wkv o = { .version = 7, .n = n, .size = s->state, .rows = wide, .v_first = b->plan->v_first,
		.is_first = b->il == 0,
		.gated = build_has(b, "time_mix_g1"),
		.key_norm = build_vector(b, "time_mix_k_k", "weight", n),
		.key_rate = build_vector(b, "time_mix_k_a", "weight", n),
		.bonus = build_vector(b, "time_mix_r_k", "weight", n) };

	shift(b, "time_mix_lerp_fused", o.gated ? FIRST : G, wide);
	mix_outputs(b, wide, o.gated ? FIRST : G);
	if (o.is_first)
		ignore_first(b);
	o.norm = result_norm(b);
	o.state = build_state(b, n * s->state);
	build_leaves(build_append(b, &op_wkv, NULL, &o, sizeof o), 0, "", wide, n);
	return build_pack(b, "wkv_pack", wide, n, SLOT_BRANCH);
}

static struct packed *channel_mix(struct builder *b)
{
	size_t n = b->model->n_embd, n_ff = b->layer->n_ff;
	struct buffer rows = buffer_with(b->plan->wide, n), wide = buffer_with(b->plan->wide, n_ff);
	struct op_rows f = { .n = n_ff, .in = wide, .out = wide, .f = ROW_UNARY, .unary = UNARY_RELU2 };

	shift(b, "channel_mix_lerp_k", 1, rows);
	build_mixed(b, rows, n);
	build_product(b, build_pack(b, "channel_mix_pack", rows, n, SLOT_NORMED), "channel_mix_key", NARROW, n_ff,
		wide);
	build_packing(b, "ffn_act", &f, SLOT_BRANCH);
	return f.packed;
}

static void layer(struct builder *b, size_t il)
{
	build_norm(b, "attn_norm");
	build_branch(b, time_mix(b), "time_mix_output");
	build_norm(b, "attn_norm_2");
	build_branch(b, channel_mix(b), "channel_mix_value");
}

/* RWKV 7 in place of a transformer's attention (RWKV team 2025), sometimes without gates. */
static void arwkv7_layer(struct builder *b, size_t il)
{
	build_norm(b, "attn_norm");
	build_branch(b, time_mix(b), "time_mix_output");
	build_unmixed(b);
	build_branch(b, build_gated(b, build_norm(b, "ffn_norm"), UNARY_SILU), "ffn_down");
}

/* ---- RWKV 6 ---- */

/* A row of its time mix: five outputs of the shift, then the shifted row, how it changed, and products of few rows. */
enum { W6, K6, V6, R6, G6, OUTPUTS6, CHANGE6 = OUTPUTS6 + 1, LOW6 };

/* Weights of all outputs as one: older files have them one by one. */
static const float *all_weights(struct builder *b, const char *const *names, size_t outputs)
{
	size_t n = b->model->n_embd;
	float *all = build_allocate(b, outputs * n * sizeof *all);

	for (size_t i = 0; i < outputs; i++) {
		const float *one = build_vector(b, names[i], "weight", n);

		if (all && one)
			memcpy(all + i * n, one, n * sizeof *all);
	}
	return all;
}

/* The outputs of the shift: how much of the row before is in each depends on the row. */
static void shift_outputs(struct builder *b, struct buffer wide)
{
	static const char *const lerp[] = { "time_mix_lerp_w", "time_mix_lerp_k", "time_mix_lerp_v", "time_mix_lerp_r",
		"time_mix_lerp_g" };
	size_t n = b->model->n_embd, rank = b->model->ssm.rank_a;
	struct buffer h = buffer_with(b->plan->h, n), low = buffer_at(wide, LOW6 * n);
	struct op_shift shift = { .n = n, .outputs = 1, .in = h, .out = buffer_at(wide, OUTPUTS6 * n),
		.change = buffer_at(wide, CHANGE6 * n), .weight = build_vector(b, "time_mix_lerp_x", "weight", n) };
	struct op_rows activation = { .n = OUTPUTS6 * rank, .in = low, .out = low, .f = ROW_TANH };
	struct op_blend blend = { .n = n, .outputs = OUTPUTS6, .x = h, .change = shift.change, .out = wide };

	b->plan->scanned = 1;
	shift.state = build_state(b, n);
	build_append(b, &op_shift, "time_mix_lerp_x", &shift, sizeof shift);
	build_product(b, build_pack(b, "time_mix_pack", shift.out, n, SLOT_NORMED), "time_mix_w1", WIDE, activation.n,
		low);
	build_append(b, &op_rows, "time_mix_w1", &activation, sizeof activation);
	build_by_head(b, "time_mix_w2", (struct op_head_rows){ .in = low, .heads = OUTPUTS6, .n = rank,
		.step = rank }, n, wide, n);
	blend.weight = build_has(b, "time_mix_lerp_fused")
		? build_vector(b, "time_mix_lerp_fused", "weight", OUTPUTS6 * n) : all_weights(b, lerp, OUTPUTS6);
	build_leaves(build_append(b, &op_blend, NULL, &blend, sizeof blend), 0, "", wide, OUTPUTS6 * n);
}

/* A product of fewer heads, each of which stands for several. */
static void repeat_heads(struct builder *b, struct buffer from, struct buffer to)
{
	size_t size = b->model->ssm.state, heads = b->layer->n_head_kv, group = b->model->n_embd / size / heads;

	for (size_t i = 0; i < group; i++) {
		struct op_copy o = { .copies = 1, .copy = { { .from = from, .to = buffer_at(to, i * size),
			.heads = heads, .n = size, .from_step = size, .to_step = group * size } } };

		build_append(b, &op_copy, "repeat", &o, sizeof o);
	}
}

static struct packed *time_mix6(struct builder *b)
{
	static const char *const whole[OUTPUTS6] = { [K6] = "time_mix_key", [V6] = "time_mix_value",
		[R6] = "time_mix_receptance", [G6] = "time_mix_gate" };
	const struct ssm *s = &b->model->ssm;
	const struct low_rank decay = { "time_mix_decay_w1", "time_mix_decay_w2", "time_mix_decay", s->rank_w,
		ROW_TANH };
	size_t n = b->model->n_embd, n_kv = b->layer->n_head_kv * s->state;
	struct buffer wide = buffer_with(b->plan->wide, LOW6 * n + size_max(s->rank_w, OUTPUTS6 * s->rank_a));
	struct buffer spare = buffer_at(wide, OUTPUTS6 * n);
	struct op_wkv o = { .version = 6, .n = n, .size = s->state, .rows = wide };

	shift_outputs(b, wide);
	for (size_t i = W6; i < OUTPUTS6; i++) {
		struct buffer output = buffer_at(wide, i * n);
		struct packed *x = build_pack(b, whole[i] ? whole[i] : decay.first, output, n, SLOT_NORMED);
		int fewer = n_kv && n_kv < n && (i == K6 || i == V6);

		if (!whole[i])
			low_rank(b, x, &decay, buffer_at(wide, LOW6 * n), output);
		else
			build_product(b, x, whole[i], WIDE, fewer ? n_kv : n, fewer ? spare : output);
		if (fewer)
			repeat_heads(b, spare, output);
	}
	if (build_has(b, "time_mix_first"))
		o.bonus = build_vector(b, "time_mix_first", "weight", n);
	o.norm = result_norm(b);
	o.state = build_state(b, n * s->state);
	build_leaves(build_append(b, &op_wkv, NULL, &o, sizeof o), 0, "", buffer_at(wide, R6 * n), n);
	return build_pack(b, "wkv_pack", buffer_at(wide, R6 * n), n, SLOT_BRANCH);
}

/* The branch, gated by sigmoids of a product of its own. */
static void channel_mix6(struct builder *b)
{
	static const char *const lerp[] = { "channel_mix_lerp_k", "channel_mix_lerp_r" };
	size_t n = b->model->n_embd, n_ff = b->layer->n_ff;
	struct buffer rows = buffer_with(b->plan->wide, 2 * n + n_ff), r = buffer_at(rows, n);
	struct buffer up = buffer_at(rows, 2 * n);
	struct op_shift shift = { .n = n, .outputs = 2, .in = buffer_with(b->plan->h, n), .out = rows,
		.weight = all_weights(b, lerp, 2) };
	struct op_rows f = { .n = n_ff, .in = up, .out = up, .f = ROW_UNARY, .unary = UNARY_RELU2 };
	struct op_rows gate = { .n = n, .in = r, .up = b->plan->branch, .out = b->plan->branch, .f = ROW_GLU,
		.unary = UNARY_SIGMOID };

	shift.state = build_state(b, n);
	build_append(b, &op_shift, "channel_mix_lerp", &shift, sizeof shift);
	build_mixed(b, rows, 2 * n);
	build_product(b, build_pack(b, "channel_mix_pack", rows, n, SLOT_NORMED), "channel_mix_key", NARROW, n_ff, up);
	build_product(b, build_pack(b, "channel_mix_pack", r, n, SLOT_NORMED), "channel_mix_receptance", NARROW, n, r);
	build_packing(b, "ffn_act", &f, SLOT_BRANCH);
	build_branch(b, f.packed, "channel_mix_value");
	build_append(b, &op_rows, "channel_mix_gate", &gate, sizeof gate);
}

static void rwkv6_layer(struct builder *b, size_t il)
{
	size_t halved = b->model->ssm.halved;

	build_norm(b, "attn_norm");
	build_branch(b, time_mix6(b), "time_mix_output");
	build_norm(b, "attn_norm_2");
	channel_mix6(b);
	if (halved && (il + 1) % halved == 0)
		build_sum_scale(b, 0.5f);
}

/* RWKV 6 in place of a transformer's attention (RWKV team 2025). */
static void rwkv6qwen2_layer(struct builder *b, size_t il)
{
	build_norm(b, "attn_norm");
	build_branch(b, time_mix6(b), "time_mix_output");
	build_unmixed(b);
	build_branch(b, build_gated(b, build_norm(b, "ffn_norm"), UNARY_SILU), "ffn_down");
}

static int rwkv6(struct model *m, struct why *w)
{
	size_t size = 1;

	if (key_size(m, "rescale_every_n_layers", 0, SIZE_MAX >> 1, &m->ssm.halved, w) < 0
	    || key_required(m, "wkv.head_size", 1, RWKV_HEAD_MAX, &size, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		l->mixers = MIXER_RWKV6;
		if (l->n_head_kv && m->n_embd / size % l->n_head_kv)
			return why(w, "%s: %zu does not divide the %zu heads", key_name(m, "attention.head_count_kv").s,
				l->n_head_kv, m->n_embd / size);
	}
	return 0;
}

/* ---- families ---- */

/* Whatever the keys of attention say. */
static int rwkv7(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].mixers = MIXER_RWKV7;
	return model_has(m, "blk.0.time_mix_g1.weight")
		? key_required(m, "attention.gate_lora_rank", 1, RANK_MAX, &m->ssm.rank_g, w) : 0;
}

const struct family families_rwkv[] = {
	{ .arch = "rwkv7", .norm = NORM_LAYER, .unrotated = 1, .read = rwkv7, .mixer = MIXER_RWKV7, .layer = layer },
	{ .arch = "arwkv7", .norm = NORM_RMS, .unrotated = 1, .read = rwkv7, .mixer = MIXER_RWKV7,
	  .layer = arwkv7_layer },
	{ .arch = "rwkv6", .norm = NORM_LAYER, .unrotated = 1, .read = rwkv6, .mixer = MIXER_RWKV6,
	  .layer = rwkv6_layer },
	{ .arch = "rwkv6qwen2", .norm = NORM_RMS, .unrotated = 1, .read = rwkv6, .mixer = MIXER_RWKV6,
	  .layer = rwkv6qwen2_layer },
	{ .arch = NULL },
};
