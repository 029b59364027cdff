/* MiniMax-Text-01 (2025): seven layers of lightning attention, then one of softmax attention. A branch is added to the
 * normed rows that it read, scaled, and not to the residual stream. */
#include "fwd/builder/builder.h"
#include "fwd/mixers/mixer.h"
#include "fwd/model/family.h"
#include "fwd/model/keys.h"
#include "fwd/model/layers.h"

enum { IDS = 200032 };          /* ids below this are text */

/* Factor of the normed rows that branches are added to. */
static float *normed_scale(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(float));
}

static int minimax01(struct model *m, struct why *w)
{
	const struct gguf_tensor *embd = gguf_tensor(m->gguf, "token_embd.weight");
	size_t interval = 8, recurrent;

	if (key_float(m, "residual_scale", 1e-3, 1e3, normed_scale(m), w) < 0
	    || key_size(m, "full_attention_interval", 1, SIZE_MAX >> 1, &interval, w) < 0
	    || layers_check_dims(m, w) < 0)
		return -1;
	if (!(*normed_scale(m) > 0))
		return why(w, "%s: missing", key_name(m, "residual_scale").s);
	for (size_t il = 0; il < m->n_layer; il++) {
		recurrent = (il + 1) % interval != 0;
		if (key_size_at(m, "attention.recurrent_layers", il, 0, 1, &recurrent, w) < 0)
			return -1;
		m->layer[il].mixer = recurrent ? &mixer_lightning : NULL;
		m->layer[il].attends = !recurrent;
	}
	if (embd && embd->dim[1] > IDS)
		m->ruled_out = (struct id_range){ IDS, (size_t)embd->dim[1] };
	return 0;
}

static void layer(struct builder *b, size_t il)
{
	/* normed_scale · x + the branch */
	const struct sum sum = { .scale = 1 / *normed_scale(b->model), .after = *normed_scale(b->model) };
	struct value *x;

	x = b->x = build_norm(b, b->x, "attn_norm");
	x = b->layer->mixer ? b->layer->mixer->build(b, x)
		: build_branch(b, build_attention(b, build_qkv(b, x), HEADS_PLAIN), "attn_output");
	build_add(b, x, sum);
	x = b->x = build_norm(b, b->x, "ffn_norm");
	x = b->layer->experts ? build_experts(b, x, NULL, UNARY_SILU)
		: build_branch(b, build_gated(b, x, UNARY_SILU), "ffn_down");
	build_add(b, x, sum);
}

const struct family families_minimax01[] = {
	{ .arch = "minimax-01", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = minimax01, .layer = layer,
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
