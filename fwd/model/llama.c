/* Llama and the families that differ from it in biases and head norms. */
#include "builder.h"
#include "families.h"

/* RMS norms before each branch, grouped queries, SwiGLU. */
static void llama_layer(struct builder *b, enum bias qkv, enum bias output, int head_norms)
{
	build_qkv(b, build_norm(b, "attn_norm"), qkv);
	build_branch(b, build_attention(b, head_norms), "attn_output", output);
	build_branch(b, build_gated(b, build_norm(b, "ffn_norm"), UNARY_SILU), "ffn_down", BIAS_NONE);
}

/* Llama (Touvron et al. 2023; Llama 3, Mistral, SmolLM2, ...). Some checkpoints have biases in attention. */
static void llama(struct builder *b, size_t il)
{
	llama_layer(b, BIAS_MAYBE, BIAS_MAYBE, 0);
}

/* Qwen2 (2024; 2.5 and the models distilled onto it): biases on q, k and v. */
static void qwen2(struct builder *b, size_t il)
{
	llama_layer(b, BIAS, BIAS_NONE, 0);
}

/* Qwen3 (2025): RMS norms on each head of q and k in place of the biases. */
static void qwen3(struct builder *b, size_t il)
{
	llama_layer(b, BIAS_NONE, BIAS_NONE, 1);
}

const struct family family_llama = { .arch = "llama", .norm = NORM_RMS, .pairs = ROPE_ADJACENT, .layer = llama };
const struct family family_qwen2 = { .arch = "qwen2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .layer = qwen2 };
const struct family family_qwen3 = { .arch = "qwen3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .layer = qwen3 };
