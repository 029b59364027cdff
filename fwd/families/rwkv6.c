/* RWKV 6 (Peng et al. 2024): a recurrent state in place of attention: one matrix for each head, with a decay for each
 * key element. */
#include "fwd/builder/rwkv.h"

#include <string.h>

#include "lib/base/size.h"
#include "fwd/model/family.h"
#include "fwd/model/keys.h"
#include "fwd/model/mixers.h"

/* The layout of a row of the time mix, in units of n_embd: five outputs of the shift, the shifted input, its difference
 * from the row before, and scratch space for low-rank products. */
enum { W, K, V, R, G, OUTPUTS, CHANGE = OUTPUTS + 1, LOW };

/* weights[outputs][n_embd] of the shift. Older files store each output's vector as a tensor of its own. */
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

/* The five outputs of the shift. How much of the row before each takes in depends on the row itself. */
static void shift_outputs(struct builder *b, struct buffer wide)
{
	static const char *const lerp[] = { "time_mix_lerp_w", "time_mix_lerp_k", "time_mix_lerp_v", "time_mix_lerp_r",
		"time_mix_lerp_g" };
	size_t n = b->model->n_embd, rank = b->model->ssm.rank_a;
	struct buffer h = buffer_with(b->plan->h, n), low = buffer_at(wide, LOW * n);
	struct op_shift shift = { .n = n, .outputs = 1, .in = h, .out = buffer_at(wide, OUTPUTS * n),
		.change = buffer_at(wide, CHANGE * n), .weight = build_vector(b, "time_mix_lerp_x", "weight", n) };
	struct op_rows activation = { .n = OUTPUTS * rank, .in = low, .out = low, .f = ROW_TANH };
	struct op_blend blend = { .n = n, .outputs = OUTPUTS, .x = h, .change = shift.change, .out = wide };

	b->plan->keeps_current = 1;
	shift.state = build_state(b, n);
	build_append(b, &op_shift, "time_mix_lerp_x", &shift, sizeof shift);
	build_product(b, build_pack(b, "time_mix_pack", shift.out, n, SLOT_NORMED), "time_mix_w1", WIDE, activation.n,
		low);
	build_append(b, &op_rows, "time_mix_w1", &activation, sizeof activation);
	build_by_head(b, "time_mix_w2", (struct op_head_rows){ .in = low, .heads = OUTPUTS, .n = rank,
		.step = rank }, n, wide, n);
	blend.weight = build_has(b, "time_mix_lerp_fused")
		? build_table(b, "time_mix_lerp_fused", "weight", OUTPUTS, n) : all_weights(b, lerp, OUTPUTS);
	build_output(build_append(b, &op_blend, NULL, &blend, sizeof blend), 0, "", wide, OUTPUTS * n);
}

/* Copies the result of n_head_kv heads, each to the heads of its group, so that there are n_embd elements. */
static void repeat_heads(struct builder *b, struct buffer from, struct buffer to)
{
	size_t size = b->model->ssm.state, heads = b->layer->n_head_kv, group = b->model->n_embd / size / heads;

	for (size_t i = 0; i < group; i++) {
		struct op_copy o = { .copies = 1, .copy = { { .from = from, .to = buffer_at(to, i * size),
			.heads = heads, .n = size, .from_step = size, .to_step = group * size } } };

		build_append(b, &op_copy, "repeat", &o, sizeof o);
	}
}

static struct packed *time_mix(struct builder *b)
{
	static const char *const whole[OUTPUTS] = { [K] = "time_mix_key", [V] = "time_mix_value",
		[R] = "time_mix_receptance", [G] = "time_mix_gate" };
	const struct ssm *s = &b->model->ssm;
	const struct rwkv_low_rank decay = { "time_mix_decay_w1", "time_mix_decay_w2", "time_mix_decay", s->rank_w,
		ROW_TANH };
	size_t n = b->model->n_embd, n_kv = b->layer->n_head_kv * s->state;
	struct buffer wide = buffer_with(b->plan->wide, LOW * n + size_max(s->rank_w, OUTPUTS * s->rank_a));
	struct buffer spare = buffer_at(wide, OUTPUTS * n);
	struct op_wkv o = { .n = n, .size = s->state, .rows = wide };

	shift_outputs(b, wide);
	for (size_t i = W; i < OUTPUTS; i++) {
		struct buffer output = buffer_at(wide, i * n);
		struct packed *x = build_pack(b, whole[i] ? whole[i] : decay.first, output, n, SLOT_NORMED);
		int fewer = n_kv && n_kv < n && (i == K || i == V);

		if (!whole[i])
			rwkv_low_rank(b, x, &decay, buffer_at(wide, LOW * n), output);
		else
			build_product(b, x, whole[i], WIDE, fewer ? n_kv : n, fewer ? spare : output);
		if (fewer)
			repeat_heads(b, spare, output);
	}
	if (build_has(b, "time_mix_first"))
		o.bonus = build_table(b, "time_mix_first", "weight", n / s->state, s->state);
	o.norm = rwkv_norm(b);
	o.state = build_state(b, n * s->state);
	build_output(build_append(b, &op_wkv6, NULL, &o, sizeof o), 0, "", buffer_at(wide, R * n), n);
	return build_pack(b, "wkv_pack", buffer_at(wide, R * n), n, SLOT_BRANCH);
}

/* The feed-forward part; its result is multiplied by the sigmoid of a second product (the receptance). */
static void channel_mix(struct builder *b)
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
	build_branch(b, time_mix(b), "time_mix_output");
	build_norm(b, "attn_norm_2");
	channel_mix(b);
	if (halved && (il + 1) % halved == 0)
		build_sum_scale(b, 0.5f);
}

static void rwkv6qwen2_layer(struct builder *b, size_t il)
{
	rwkv_transformer_layer(b, time_mix);
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

const struct family families_rwkv6[] = {
	{ .arch = "rwkv6", .norm = NORM_LAYER, .unrotated = 1, .read = rwkv6, .mixer = MIXER_RWKV6,
	  .layer = rwkv6_layer, .epsilon = EPSILON_OPTIONAL },
	{ .arch = "rwkv6qwen2", .norm = NORM_RMS, .unrotated = 1, .read = rwkv6, .mixer = MIXER_RWKV6,
	  .layer = rwkv6qwen2_layer, .epsilon = EPSILON_OPTIONAL },
	{ .arch = NULL },
};
