/* T5, an encoder and a decoder (Raffel et al. 2020; Chung et al. 2022). */
#include <math.h>

#include "fwd/builder/builder.h"
#include "fwd/model/encoder.h"
#include "fwd/model/keys.h"

/* Queries are not divided by the root of their size; the initialisation allows for that. If the output matrix is the
 * embedding, logits are divided by the root of n_embd, which llama.cpp leaves out. The context holds the text and the
 * answer, and each may be as long as the texts of the training. */
static int t5(struct model *m, struct why *w)
{
	if (encoder_read(m, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale = 1;
	m->n_ctx_train *= 2;
	if (!model_has(m, "output.weight"))
		m->logit_scale = 1 / sqrtf((float)m->n_embd);
	return 0;
}

/* The encoder alone. */
static int t5encoder(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale = 1;
	return key_required(m, "attention.relative_buckets_count", 4, BUCKETS_MAX, &encoder_of(m)->buckets, w);
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
	{ .arch = "t5encoder", .norm = NORM_RMS, .headless = 1, .sees_all = 1, .unrotated = 1, .stack = "enc.",
	  .final_norm = "enc.output_norm", .read = t5encoder, .layer = t5_layer },
	{ .arch = NULL },
};
