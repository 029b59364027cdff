/* RWKV 6 and 7 (Peng et al. 2024, 2025), and transformers with their time mix in place of attention (RWKV team
 * 2025). */
#include "fwd/mixers/rwkv.h"

#include "fwd/model/family.h"
#include "fwd/model/keys.h"

/* The feed-forward part of RWKV 6; its result is multiplied by the sigmoid of a second product (the receptance). */
static struct value *channel_mix6(struct builder *b, struct value *x)
{
	static const char *const lerp[] = { "channel_mix_lerp_k", "channel_mix_lerp_r" };
	size_t n = b->model->n_embd;
	struct value *rows = build_value(b, 2 * n), *up, *r, *branch;
	struct op_shift shift = { .n = n, .outputs = 2, .in = rows_of(x), .out = rows_of(rows),
		.weight = rwkv_shift_weights(b, lerp, 2), .state = build_state(b, n, 1) };
	struct op_rows f = { .f = ROW_UNARY, .unary = UNARY_RELU2 }, gate = { .f = ROW_GLU, .unary = UNARY_SIGMOID };

	build_append(b, &op_shift, "channel_mix_lerp", &shift, sizeof shift);
	up = build_product(b, build_part(b, rows, 0, n), "channel_mix_key", NARROW, b->layer->n_ff);
	r = build_product(b, build_part(b, rows, n, n), "channel_mix_receptance", NARROW, n);
	up = build_rows(b, "ffn_act", f, up, build_part(b, up, 0, up->n));
	branch = build_branch(b, up, "channel_mix_value");
	gate.up = rows_of(branch);
	return build_rows(b, "channel_mix_gate", gate, r, build_part(b, branch, 0, n));
}

static void rwkv6_layer(struct builder *b, size_t il)
{
	size_t halved = rwkv_of(b->model)->halved;
	struct value *x = b->layer->mixer->build(b, build_norm(b, b->x, "attn_norm"));

	build_add(b, x, (struct sum){ .norm = NULL });
	x = channel_mix6(b, build_norm(b, b->x, "attn_norm_2"));
	build_add(b, x, (struct sum){ .after = halved && (il + 1) % halved == 0 ? 0.5f : 0 });
}

/* The feed-forward part of RWKV 7. */
static struct value *channel_mix7(struct builder *b, struct value *x)
{
	struct op_rows f = { .f = ROW_UNARY, .unary = UNARY_RELU2 };

	x = rwkv_shift(b, "channel_mix_lerp_k", 1, x);
	x = build_product(b, x, "channel_mix_key", NARROW, b->layer->n_ff);
	return build_branch(b, build_rows(b, "ffn_act", f, x, build_part(b, x, 0, x->n)), "channel_mix_value");
}

static void rwkv7_layer(struct builder *b, size_t il)
{
	const struct sum sum = { .norm = NULL };

	build_add(b, b->layer->mixer->build(b, build_norm(b, b->x, "attn_norm")), sum);
	build_add(b, channel_mix7(b, build_norm(b, b->x, "attn_norm_2")), sum);
}

/* Every layer has the family's mixer, whatever the keys of attention say. */
static void mix_all(struct model *m)
{
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].mixer = m->family->mixer;
		m->layer[il].attends = 0;
	}
}

static int rwkv6(struct model *m, struct why *w)
{
	size_t size = 1;

	if (key_size(m, "rescale_every_n_layers", 0, SIZE_MAX >> 1, &rwkv_of(m)->halved, w) < 0
	    || key_required(m, "wkv.head_size", 1, RWKV_HEAD_MAX, &size, w) < 0)
		return -1;
	mix_all(m);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (l->n_head_kv && m->n_embd / size % l->n_head_kv)
			return why(w, "%s: %zu does not divide the %zu heads", key_name(m, "attention.head_count_kv").s,
				l->n_head_kv, m->n_embd / size);
	}
	return 0;
}

static int rwkv7(struct model *m, struct why *w)
{
	mix_all(m);
	return model_has(m, "blk.0.time_mix_g1.weight")
		? key_required(m, "attention.gate_lora_rank", 1, RANK_MAX, &rwkv_of(m)->rank_g, w) : 0;
}

const struct family families_rwkv[] = {
	{ .arch = "rwkv6", .norm = NORM_LAYER, .unrotated = 1, .read = rwkv6, .mixer = &mixer_rwkv6,
	  .layer = rwkv6_layer, .epsilon = EPSILON_OPTIONAL },
	{ .arch = "rwkv6qwen2", .norm = NORM_RMS, .unrotated = 1, .read = rwkv6, .mixer = &mixer_rwkv6,
	  .epsilon = EPSILON_OPTIONAL },
	{ .arch = "rwkv7", .norm = NORM_LAYER, .unrotated = 1, .read = rwkv7, .mixer = &mixer_rwkv7,
	  .layer = rwkv7_layer, .epsilon = EPSILON_OPTIONAL },
	/* files of this family may lack the gates */
	{ .arch = "arwkv7", .norm = NORM_RMS, .unrotated = 1, .read = rwkv7, .mixer = &mixer_rwkv7,
	  .epsilon = EPSILON_OPTIONAL },
	{ .arch = NULL },
};
