/* Families whose layers have mixtures of experts. */
#include "families.h"
#include "layers.h"

/* gpt-oss (OpenAI 2025): every second layer has a window. */
static int gpt_oss(struct model *m, struct why *w)
{
	return layers_slide(m, 2, w);
}

/* DBRX (Databricks 2024). */
static int dbrx(struct model *m, struct why *w)
{
	return key_float(m, "attention.clamp_kqv", 0, 1e6, &m->qkv_clamp, w);
}

const struct family families_mixtures[] = {
	{ .arch = "qwen2moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .has_experts = 1 },
	{ .arch = "qwen3moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "olmoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED_TOGETHER },
	  .has_experts = 1 },
	{ .arch = "gpt-oss", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gpt_oss,
	  .decoder = { .ffn_norm = "post_attention_norm", .f = UNARY_SWIGLU_OAI }, .has_experts = 1,
	  .experts = { .gating = GATING_CHOSEN } },
	{ .arch = "glm4moe", .norm = NORM_RMS, .pairs = ROPE_HALVES,
	  .decoder = { .ffn_norm = "post_attention_norm", .heads = HEADS_NORMED }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "deepseek", .norm = NORM_RMS, .has_experts = 1, .experts = { .reads_weights = 1 } },
	{ .arch = "dots1", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "minimax-m2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED_TOGETHER },
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .normalise = 1 } },
	{ .arch = "ernie4_5-moe", .norm = NORM_RMS, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "hunyuan-moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED_LATE },
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "bailingmoe2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "phimoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "dbrx", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .read = dbrx,
	  .decoder = { .ffn_norm = "attn_output_norm" }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
