/* GPT-2 and the families that share its layer norms, biases and ungated feed-forward part. */
#include "fwd/model/family.h"
#include "fwd/model/layers.h"

/* GPT-NeoX (EleutherAI 2022). */
static int gptneox(struct model *m, struct why *w)
{
	m->parallel = 1;
	return key_flag(m, "use_parallel_residual", &m->parallel, w);
}

/* BLOOM (BigScience 2022). */
static int bloom(struct model *m, struct why *w)
{
	return layers_alibi(m, 8, w);
}

static int read_alibi(struct model *m, struct why *w)
{
	float most = 0;

	if (key_float(m, "attention.max_alibi_bias", 0, 1e3, &most, w) < 0)
		return -1;
	return most > 0 ? layers_alibi(m, most, w) : 0;
}

/* MPT (MosaicML 2023). */
static int mpt(struct model *m, struct why *w)
{
	return key_float(m, "attention.clamp_kqv", 0, 1e6, &m->qkv_clamp, w) < 0 ? -1 : read_alibi(m, w);
}

/* Jais (Inception 2023): scores are divided by dim_k, not by its square root. */
static int jais(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale = 1 / (float)m->layer[il].dim_k;
	return read_alibi(m, w);
}

/* Command R (Cohere 2024): logit_scale multiplies the logits (in Granite it divides them). */
static int command_r(struct model *m, struct why *w)
{
	return key_scale(m, "logit_scale", &m->logit_scale, w);
}

/* Command R7B (Cohere 2024): windows, and RoPE only in the layers with a window. */
static int cohere2(struct model *m, struct why *w)
{
	if (command_r(m, w) < 0 || layers_slide(m, 4, w) < 0)
		return -1;
	layers_unrotate_full(m);
	return layers_rot_of_first(m, w);
}

/* Cohere 2 with experts (2026): the leading dense layers use RoPE, too. The result of the routed experts and that of
 * the shared expert are averaged. Where the window pattern is a period instead of flags, the first layer of each period
 * has no window. */
static int cohere2moe(struct model *m, struct why *w)
{
	int bad = command_r(m, w) < 0 || layers_slide_late(m, 4, w) < 0 || layers_rot_of_first(m, w) < 0;

	if (gguf_find(m->gguf, key_name(m, "attention.layer_norm_rms_epsilon").s))
		m->norm = NORM_RMS;
	for (size_t il = 0; il < m->n_layer; il++)
		if (!m->layer[il].window && m->layer[il].experts)
			m->layer[il].rope = NULL;
	if (m->experts.most.n_ff_shared) {
		m->experts.scale /= 2;
		m->experts.scale_shared = 0.5f;
	}
	return bad ? -1 : 0;
}

#define UNGATED_GELU .ungated = 1, .f = UNARY_GELU

const struct family families_gpt2[] = {
	/* Radford et al. 2019 */
	{ .arch = "gpt2", .norm = NORM_LAYER, .unrotated = 1, .positions = POSITIONS_LEARNED,
	  .decoder = { UNGATED_GELU } },
	{ .arch = "starcoder", .norm = NORM_LAYER, .unrotated = 1, .positions = POSITIONS_LEARNED,
	  .decoder = { UNGATED_GELU } },
	{ .arch = "starcoder2", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU } },
	{ .arch = "codeshell", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .embeds_output = 1,
	  .decoder = { UNGATED_GELU } },
	{ .arch = "gptneox", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .read = gptneox, .decoder = { UNGATED_GELU } },
	{ .arch = "phi2", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU, .parallel = 1 } },
	{ .arch = "falcon", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU, .parallel = 1 } },
	{ .arch = "bloom", .norm = NORM_LAYER, .unrotated = 1, .read = bloom, .decoder = { UNGATED_GELU } },
	{ .arch = "mpt", .norm = NORM_LAYER, .unrotated = 1, .positions = POSITIONS_OPTIONAL, .read = mpt,
	  .decoder = { UNGATED_GELU, .divides = 1 } },
	{ .arch = "jais", .norm = NORM_LAYER, .unrotated = 1, .read = jais },
	{ .arch = "stablelm", .norm = NORM_LAYER, .pairs = ROPE_HALVES,
	  .decoder = { .parallel = 1, .heads = HEADS_NORMED } },
	{ .arch = "jais2", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "nemotron", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "command-r", .norm = NORM_LAYER, .read = command_r,
	  .decoder = { .parallel = 1, .heads = HEADS_NORMED } },
	{ .arch = "cohere2", .norm = NORM_LAYER, .read = cohere2, .decoder = { .parallel = 1 } },
	{ .arch = "cohere2moe", .norm = NORM_LAYER, .read = cohere2moe, .decoder = { .parallel = 1 },
	  .predicts = PREDICTS_BY_KEY,
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = NULL },
};
