/* T5, an encoder and a decoder (Raffel et al. 2020; Chung et al. 2022). */
#include <math.h>
#include <stdlib.h>

#include "fwd/builder/builder.h"
#include "fwd/model/layers.h"
#include "fwd/model/tensors.h"

/* Queries are not divided by the root of their size; the initialisation allows for that. If the output matrix is the
 * embedding, logits are divided by the root of n_embd, which llama.cpp leaves out. The context holds the text and the
 * answer, and each may be as long as the texts of the training. */
static int t5(struct model *m, struct why *w)
{
	struct encoder *e = &m->encoder;
	struct layer first = m->layer[0], *layer;
	int64_t eos;
	int found = gguf_integer(m->gguf, "tokenizer.ggml.eos_token_id", 0, INT32_MAX, &eos, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.eos_token_id: missing");
	e->end = (size_t)eos;
	e->n_layer = m->n_layer;
	if (key_size(m, "decoder_block_count", 1, TENSORS_LAYERS, &m->n_layer, w) < 0
	    || key_required(m, "decoder_start_token_id", 0, INT32_MAX, &e->start, w) < 0
	    || key_required(m, "attention.relative_buckets_count", 4, BUCKETS_MAX, &e->buckets, w) < 0)
		return -1;
	layer = realloc(m->layer, m->n_layer * sizeof *layer);
	if (!layer)
		return why(w, "out of memory");
	m->layer = layer;
	first.scale = 1;
	for (size_t il = 0; il < m->n_layer; il++) {
		layer[il] = first;
		layer[il].block = il;
	}
	m->n_ctx_train *= 2;
	if (!model_has(m, "output.weight"))
		m->logit_scale = 1 / sqrtf((float)m->n_embd);
	return 0;
}

static void t5_layer(struct builder *b, size_t il)
{
	const struct sum sum = { .norm = NULL };
	struct value *x = build_norm(b, b->x, "attn_norm");

	build_biases(b);
	build_add(b, build_branch(b, build_attention(b, build_qkv(b, x), HEADS_PLAIN), "attn_o"), sum);
	if (b->sight == SIGHT_ANSWER) {
		x = build_cross_attention(b, build_norm(b, b->x, "cross_attn_norm"));
		build_add(b, build_branch(b, x, "cross_attn_o"), sum);
	}
	x = build_norm(b, b->x, "ffn_norm");
	x = build_has(b, "ffn_gate") ? build_gated(b, x, UNARY_GELU) : build_ungated(b, x, UNARY_RELU);
	build_add(b, build_branch(b, x, "ffn_down"), sum);
}

const struct family families_t5[] = {
	{ .arch = "t5", .norm = NORM_RMS, .unrotated = 1, .final_norm = "dec.output_norm", .read = t5,
	  .layer = t5_layer },
	{ .arch = NULL },
};
