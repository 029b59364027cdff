/* Masked diffusion models: they predict the mask tokens of a text instead of its next token. Every row sees the whole
 * text; otherwise the layers are those of the family named at each. */
#include "fwd/model/family.h"

const struct family families_diffusion[] = {
	/* Dream (Ye et al. 2025): qwen2 */
	{ .arch = "dream", .norm = NORM_RMS, .pairs = ROPE_HALVES, .diffusion = 1, .unused = { "output.bias" } },
	/* LLaDA (Nie et al. 2025): llama */
	{ .arch = "llada", .norm = NORM_RMS, .diffusion = 1, .unused = { "rope_freqs.weight", "attn_output.bias",
	  "ffn_gate.bias", "ffn_up.bias", "ffn_down.bias" } },
	/* LLaDA-MoE (Zhu et al. 2025): olmoe, with a norm for each head */
	{ .arch = "llada-moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .diffusion = 1,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1 },
	/* RND1 (Radical Numerics 2025): qwen3moe */
	{ .arch = "rnd1", .norm = NORM_RMS, .pairs = ROPE_HALVES, .diffusion = 1,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
