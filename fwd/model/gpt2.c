/* GPT-2. */
#include "builder.h"
#include "families.h"

/* GPT-2 (Radford et al. 2019): learned positions, layer norms, one matrix for q, k and v, GELU, biases everywhere. */
static void gpt2(struct builder *b, size_t il)
{
	build_norm(b, "attn_norm");
	build_qkv_fused(b, BIAS);
	build_attention(b, 0);
	build_branch(b, "attn_output", BIAS);
	build_norm(b, "ffn_norm");
	build_ungated(b, UNARY_GELU, BIAS);
	build_branch(b, "ffn_down", BIAS);
}

const struct family family_gpt2 = { .arch = "gpt2", .norm = NORM_LAYER, .learned_positions = 1, .layer = gpt2 };
