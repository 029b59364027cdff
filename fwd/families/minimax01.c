/* MiniMax-Text-01 (2025): seven layers of lightning attention, then one of softmax attention. A branch is added to the
 * normed rows that it read, scaled, and not to the residual stream. */
#include "fwd/builder/builder.h"
#include "fwd/model/family.h"
#include "fwd/model/keys.h"
#include "fwd/model/layers.h"

enum { IDS = 200032 };          /* ids below this are text */

static int minimax01(struct model *m, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(m->gguf, "token_embd.weight");
	size_t interval = 8, recurrent;

	if (key_float(m, "residual_scale", 1e-3, 1e3, &m->normed_scale, w) < 0
	    || key_size(m, "full_attention_interval", 1, SIZE_MAX >> 1, &interval, w) < 0
	    || layers_check_dims(m, w) < 0)
		return -1;
	if (!(m->normed_scale > 0))
		return why(w, "%s: missing", key_name(m, "residual_scale").s);
	for (size_t il = 0; il < m->n_layer; il++) {
		recurrent = (il + 1) % interval != 0;
		if (key_size_at(m, "attention.recurrent_layers", il, 0, 1, &recurrent, w) < 0)
			return -1;
		m->layer[il].mixers = recurrent ? MIXER_LIGHTNING : MIXER_ATTENTION;
	}
	if (embd && embd->dim[1] > IDS)
		m->ruled_out = (struct id_range){ IDS, (size_t)embd->dim[1] };
	return 0;
}

/* Adds the pending branch to the scaled rows. */
static void add_scaled(struct builder *b)
{
	build_branch_scale(b, 1 / b->model->normed_scale);
	build_sum_scale(b, b->model->normed_scale);
}

static void layer(struct builder *b, size_t il)
{
	struct packed *x = build_norm(b, "attn_norm");

	build_take_normed(b);
	if (b->layer->mixers & MIXER_LIGHTNING) {
		build_branch(b, build_lightning(b, x), "attn_output");
	} else {
		build_qkv(b, x);
		build_branch(b, build_attention(b, HEADS_PLAIN), "attn_output");
	}
	add_scaled(b);
	x = build_norm(b, "ffn_norm");
	build_take_normed(b);
	if (b->layer->experts)
		build_experts(b, x, UNARY_SILU);
	else
		build_branch(b, build_gated(b, x, UNARY_SILU), "ffn_down");
	add_scaled(b);
}

const struct family families_minimax01[] = {
	{ .arch = "minimax-01", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = minimax01, .layer = layer,
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
