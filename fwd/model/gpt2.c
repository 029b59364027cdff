/* GPT-2. */
#include "builder.h"
#include "families.h"

/* GPT-2 (Radford et al. 2019): learned positions, layer norms, one matrix for q, k and v, GELU, biases everywhere. */
static void gpt2(struct builder *b, size_t il)
{
	build_qkv_fused(b, build_norm(b, "attn_norm"), BIAS);
	build_branch(b, build_attention(b, 0), "attn_output", BIAS);
	build_branch(b, build_ungated(b, build_norm(b, "ffn_norm"), UNARY_GELU, BIAS), "ffn_down", BIAS);
}

const struct family family_gpt2 = { .arch = "gpt2", .norm = NORM_LAYER, .learned_positions = 1, .layer = gpt2 };
