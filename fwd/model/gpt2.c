/* GPT-2 and the families with its layer norms, biases and feed-forward part without a gate. */
#include "families.h"
#include "layers.h"

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

/* MPT (MosaicML 2023). */
static int mpt(struct model *m, struct why *w)
{
	float most = 0;

	if (key_float(m, "attention.clamp_kqv", 0, 1e6, &m->qkv_clamp, w) < 0
	    || key_float(m, "attention.max_alibi_bias", 0, 1e3, &most, w) < 0)
		return -1;
	return most > 0 ? layers_alibi(m, most, w) : 0;
}

/* Jais (Inception 2023): scores over dim_k, not its root. */
static int jais(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale = 1 / (float)m->layer[il].dim_k;
	return mpt(m, w);
}

/* Command R (Cohere 2024): logits are multiplied. */
static int command_r(struct model *m, struct why *w)
{
	return key_float(m, "logit_scale", 0, 1e6, &m->logit_scale, w);
}

/* Command R7B (Cohere 2024): windows, and RoPE only where there is one. */
static int cohere2(struct model *m, struct why *w)
{
	if (command_r(m, w) < 0 || layers_slide(m, 4, w) < 0)
		return -1;
	layers_unrotate_full(m);
	return 0;
}

#define UNGATED_GELU .ungated = 1, .f = UNARY_GELU

const struct family families_gpt2[] = {
	/* Radford et al. 2019 */
	{ .arch = "gpt2", .norm = NORM_LAYER, .unrotated = 1, .learned_positions = 1, .decoder = { UNGATED_GELU } },
	{ .arch = "starcoder", .norm = NORM_LAYER, .unrotated = 1, .learned_positions = 1,
	  .decoder = { UNGATED_GELU } },
	{ .arch = "starcoder2", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU } },
	{ .arch = "codeshell", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU } },
	{ .arch = "gptneox", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .read = gptneox, .decoder = { UNGATED_GELU } },
	{ .arch = "phi2", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU, .parallel = 1 } },
	{ .arch = "falcon", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { UNGATED_GELU, .parallel = 1 } },
	{ .arch = "bloom", .norm = NORM_LAYER, .unrotated = 1, .read = bloom, .decoder = { UNGATED_GELU } },
	{ .arch = "mpt", .norm = NORM_LAYER, .unrotated = 1, .read = mpt, .decoder = { UNGATED_GELU } },
	{ .arch = "jais", .norm = NORM_LAYER, .unrotated = 1, .read = jais },
	{ .arch = "stablelm", .norm = NORM_LAYER, .pairs = ROPE_HALVES,
	  .decoder = { .parallel = 1, .heads = HEADS_NORMED } },
	{ .arch = "jais2", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "nemotron", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .decoder = { .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "command-r", .norm = NORM_LAYER, .read = command_r,
	  .decoder = { .parallel = 1, .heads = HEADS_NORMED } },
	{ .arch = "cohere2", .norm = NORM_LAYER, .read = cohere2, .decoder = { .parallel = 1 } },
	{ .arch = NULL },
};
