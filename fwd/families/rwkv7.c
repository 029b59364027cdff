/* RWKV 7 (Peng et al. 2025): a recurrent state in place of attention: one matrix for each head, with a decay for each
 * key element, updated by a generalised delta rule. */
#include "fwd/builder/rwkv.h"

#include "fwd/model/family.h"
#include "fwd/model/keys.h"
#include "fwd/model/mixers.h"

/* The layout of a row of the time mix, in units of n_embd: six outputs of the shift, each overwritten by its products,
 * and the mixing weights of the first layer's values. */
enum { R, W, K, V, A, G, FIRST, OUTPUTS };

/* Blends each row with the row before, by weights[outputs][n]. */
static void shift(struct builder *b, const char *weights, size_t outputs, struct buffer to)
{
	size_t n = b->model->n_embd;
	struct op_shift o = { .n = n, .outputs = outputs, .in = buffer_with(b->plan->h, n), .out = to,
		.weight = build_table(b, weights, "weight", outputs, n), .state = build_state(b, n) };

	b->plan->keeps_current = 1;
	build_output(build_append(b, &op_shift, weights, &o, sizeof o), 0, "", to, outputs * n);
}

/* Applies the products of each output of the shift. `outputs` leaves out the last one, the gates, where a file has
 * none. */
static void mix_outputs(struct builder *b, struct buffer wide, size_t outputs)
{
	static const char *const whole[OUTPUTS] = { [R] = "time_mix_receptance", [K] = "time_mix_key",
		[V] = "time_mix_value" };
	const struct ssm *s = &b->model->ssm;
	const struct rwkv_low_rank low[OUTPUTS] = {
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
			rwkv_low_rank(b, x, &low[FIRST], spare, buffer_at(wide, FIRST * n));
		if (whole[i])
			build_product(b, x, whole[i], WIDE, n, output);
		else
			rwkv_low_rank(b, x, &low[i], spare, output);
	}
}

/* Files have weights for mixing in the first layer's values even in the first layer, where they have no effect. */
static void ignore_first(struct builder *b)
{
	static const char *const unused[] = { "time_mix_v0", "time_mix_v1", "time_mix_v2", NULL };

	build_ignore(b, unused, "weight");
}

static struct packed *time_mix(struct builder *b)
{
	const struct ssm *s = &b->model->ssm;
	size_t n = b->model->n_embd;
	struct buffer wide = buffer_with(b->plan->wide, OUTPUTS * n + mixers_rank(s));
	struct op_wkv7 o = { .wkv = { .n = n, .size = s->state, .rows = wide,
			.bonus = build_vector(b, "time_mix_r_k", "weight", n) },
		.v_first = b->plan->carried, .is_first = b->il == 0, .gated = build_has(b, "time_mix_g1"),
		.key_norm = build_vector(b, "time_mix_k_k", "weight", n),
		.key_rate = build_vector(b, "time_mix_k_a", "weight", n) };

	shift(b, "time_mix_lerp_fused", o.gated ? FIRST : G, wide);
	mix_outputs(b, wide, o.gated ? FIRST : G);
	if (o.is_first)
		ignore_first(b);
	o.wkv.norm = rwkv_norm(b);
	o.wkv.state = build_state(b, n * s->state);
	build_output(build_append(b, &op_wkv7, NULL, &o, sizeof o), 0, "", wide, n);
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

/* Files of this family may lack the gates. */
static void arwkv7_layer(struct builder *b, size_t il)
{
	rwkv_transformer_layer(b, time_mix);
}

/* Every layer is RWKV 7, whatever the keys of attention say. */
static int rwkv7(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].mixers = MIXER_RWKV7;
	return model_has(m, "blk.0.time_mix_g1.weight")
		? key_required(m, "attention.gate_lora_rank", 1, RANK_MAX, &m->ssm.rank_g, w) : 0;
}

const struct family families_rwkv7[] = {
	{ .arch = "rwkv7", .norm = NORM_LAYER, .unrotated = 1, .read = rwkv7, .mixer = MIXER_RWKV7, .layer = layer,
	  .epsilon = EPSILON_OPTIONAL },
	{ .arch = "arwkv7", .norm = NORM_RMS, .unrotated = 1, .read = rwkv7, .mixer = MIXER_RWKV7,
	  .layer = arwkv7_layer, .epsilon = EPSILON_OPTIONAL },
	{ .arch = NULL },
};
