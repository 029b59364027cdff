/* Families that fill in masks anywhere in a text, instead of continuing it (diffusion models). Each row sees the whole
 * text, in the layers of a family that continues texts. */
#include "fwd/model/family.h"

const struct family families_masks[] = {
	/* Dream (Ye et al. 2025): the layers of Qwen 2.5 */
	{ .arch = "dream", .norm = NORM_RMS, .pairs = ROPE_HALVES, .fills_masks = 1 },
	/* LLaDA (Nie et al. 2025): the layers of llama */
	{ .arch = "llada", .norm = NORM_RMS, .fills_masks = 1 },
	/* LLaDA-MoE (Zhu et al. 2025): the layers of OLMoE, with norms of each head */
	{ .arch = "llada-moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .fills_masks = 1,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1 },
	/* RND1 (Radical Numerics 2025): the layers of Qwen 3 with experts */
	{ .arch = "rnd1", .norm = NORM_RMS, .pairs = ROPE_HALVES, .fills_masks = 1,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
