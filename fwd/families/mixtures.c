/* Families whose layers have mixtures of experts. */
#include <math.h>

#include "fwd/builder/indexer.h"
#include "fwd/model/family.h"
#include "fwd/model/layers.h"
#include "lib/base/fmath.h"
#include "lib/base/size.h"

/* gpt-oss (OpenAI 2025): every second layer has a window. */
static int gpt_oss(struct model *m, struct why *w)
{
	return layers_slide(m, 2, w) < 0 || layers_sliding_base(m, w) < 0 ? -1 : 0;
}

/* The same in files of Ollama's converter, which scale RoPE by YaRN without saying so. */
static int gptoss(struct model *m, struct why *w)
{
	if (model_has(m, "blk.0.ffn_gate_up_exps.weight"))
		return why(w, "tensor blk.0.ffn_gate_up_exps.weight: interleaved gates are not supported");
	if (!gguf_find(m->gguf, key_name(m, "rope.scaling.type").s))
		m->rope.scaling = ROPE_YARN;
	return gpt_oss(m, w);
}

/* K-EXAONE (LG AI 2025): three of four layers have a window, and only these use RoPE. */
static int exaone_moe(struct model *m, struct why *w)
{
	if (layers_slide(m, 4, w) < 0)
		return -1;
	layers_unrotate_full(m);
	return 0;
}

/* AFMoE (Arcee AI 2025): gated attention; three of four layers have a window, and only these use RoPE. */
static int afmoe(struct model *m, struct why *w)
{
	m->embedding_scale = sqrtf((float)m->n_embd);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		l->gates = GATES_ELEMENTS;
		l->rope = il % 4 == 3 ? NULL : l->rope;
	}
	return layers_check_dims(m, w) < 0 || layers_slide(m, 4, w) < 0 || layers_sliding_base(m, w) < 0 ? -1
		: layers_rot_of_first(m, w);
}

/* Mellum 2 (JetBrains 2026): RoPE scaling applies to the layers without a window only. Like llama.cpp, we use the same
 * base in all layers, whatever rope.freq_base_swa says. */
static int mellum(struct model *m, struct why *w)
{
	return layers_slide_unscaled(m, 4, w);
}

/* RoPE of the layers with a window: with this base unless a key says otherwise, without scaling, and possibly with
 * another number of rotated elements. */
static int read_sliding_rope(struct model *m, double base, struct why *w)
{
	return layers_sliding_rope(m, base, w) < 0 ? -1 : layers_sliding_rot(m, w);
}

/* Step 3.5 (StepFun 2026): a gate for each head, and limits of SwiGLU. Layers without a window rotate half as many
 * elements of each head, and only these layers use RoPE scaling. */
static int step35(struct model *m, struct why *w)
{
	layers_find_gates(m);
	if (layers_limit(m, w) < 0 || layers_slide_late(m, 4, w) < 0 || read_sliding_rope(m, SLIDING_BASE, w) < 0)
		return -1;
	m->rope.n_rot /= 2;
	return m->rope.n_rot % 2 ? why(w, "%s: half of it is odd", key_name(m, "rope.dimension_count").s) : 0;
}

/* Maple (2026): only layers with a window use RoPE. */
static int maple(struct model *m, struct why *w)
{
	if (layers_limit_gates(m, 7, w) < 0 || layers_slide(m, 0, w) < 0 || layers_sliding_base(m, w) < 0
	    || layers_sliding_rot(m, w) < 0)
		return -1;
	layers_unrotate_full(m);
	return 0;
}

/* Laguna (Poolside 2026): softplus gates; the first of every four layers has no window. */
static int laguna(struct model *m, struct why *w)
{
	layers_find_gates(m);
	if (layers_slide_late(m, 4, w) < 0 || read_sliding_rope(m, m->rope.base, w) < 0)
		return -1;
	m->rope_sliding.attn_factor = 1;
	return layers_check_dims(m, w);
}

/* The text part of DeepSeek-OCR (2025). Like llama.cpp, we rotate whole heads, and RoPE scaling only scales the
 * score, whatever the keys say. */
static int deepseek2_ocr(struct model *m, struct why *w)
{
	const struct rope_spec *r = &m->rope;
	int stretches = r->scaling == ROPE_LINEAR || (r->scaling == ROPE_YARN && r->factor > 1);
	double stretched = stretches ? r->factor : 1;
	double magnitude = r->attn_factor * (1 + 0.1 * fmath_log(stretched));

	layers_plain_rope(m, r->base);
	m->rope.n_rot = m->layer[0].dim_k;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale *= (float)(magnitude * magnitude);
	key_unused(m, "attention.sliding_window", 0);
	return 0;
}

/* MiMo 2 (Xiaomi 2025): a separate RoPE base for the layers with a window; attention's result is scaled. */
static int mimo2(struct model *m, struct why *w)
{
	return layers_slide(m, 0, w) < 0 || layers_sliding_rope(m, SLIDING_BASE, w) < 0
		|| key_float(m, "attention.value_scale", 0, 1e6, &m->attn_out_scale, w) < 0 ? -1 : 0;
}

/* DBRX (Databricks 2024). */
static int dbrx(struct model *m, struct why *w)
{
	return key_float(m, "attention.clamp_kqv", 0, 1e6, &m->qkv_clamp, w);
}

/* SmallThinker (2025): where a model has windows, the first of every four layers has neither a window nor RoPE. In a
 * model of four layers it has RoPE, as in llama.cpp. */
static int smallthinker(struct model *m, struct why *w)
{
	size_t window = 0;

	if (key_size(m, "attention.sliding_window", 0, SIZE_MAX >> 1, &window, w) < 0)
		return -1;
	for (size_t il = 0; window && il < m->n_layer; il++) {
		m->layer[il].window = il % 4 ? 4096 : 0;        /* whatever the key says, as in llama.cpp */
		m->layer[il].rope = il % 4 || m->n_layer == 4 ? &m->rope : NULL;
	}
	return layers_sliding_base(m, w);
}

/* Llama 4 (Meta 2025): three of four layers use RoPE and see their own chunk of 8192 positions only. The fourth has
 * neither RoPE nor chunks, and scales queries up at positions far into the context. */
static int llama4(struct model *m, struct why *w)
{
	enum { CHUNK = 8192 };

	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (il % 4 == 3) {
			l->rope = NULL;
			l->temperature = (struct temperature){ .scale = 0.1f, .offset = 1, .length = CHUNK };
		} else {
			l->chunk = CHUNK;
			l->head_norms_bare = m->experts.n != 128;
		}
	}
	return layers_sliding_base(m, w);
}

/* MiniMax M3 (2026): sparse attention in the layers with experts. Each head of the indexer chooses blocks of positions
 * for one KV head, by the largest score in each block; the last blocks are always among them. */
static int minimax_m3(struct model *m, struct why *w)
{
	struct indexer *x = indexer_of(m);
	size_t positions = 0;

	if (indexer_read(m, w) < 0
	    || key_required(m, "attention.indexer.block_size", 1, CTX_MAX, &positions, w) < 0
	    || key_required(m, "attention.indexer.local_blocks", 1, x->top, &x->local, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		l->sparse = l->experts ? CHOOSES : SEES_ALL;
		l->ratio = l->experts ? positions : 0;
		if (l->experts && l->n_head_kv != x->heads)
			return why(w, "%s: %zu, but layer %zu has %zu KV heads",
				key_name(m, "attention.indexer.head_count").s, x->heads, il, l->n_head_kv);
	}
	return 0;
}

/* GroveMoE (Inclusion AI 2025): adjugate experts. */
static int grovemoe(struct model *m, struct why *w)
{
	struct experts *e = &m->experts, *a = &m->adjugates;

	if (!e->n)
		return why(w, "%s: no layer has any", key_name(m, "expert_count").s);
	a->most.n_ff = m->layer[0].dim_k;
	a->normalise = 1;
	if (key_required(m, "experts_per_group", 1, e->n, &a->stand_for, w) < 0
	    || key_size(m, "expert_chunk_feed_forward_length", 1, FF_MAX, &a->most.n_ff, w) < 0
	    || key_float(m, "expert_group_scale", -1e6, 1e6, &a->scale, w) < 0)
		return -1;
	a->n = e->n / a->stand_for;
	a->most.used = size_min(e->most.used, a->n);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].expert_sizes.n_ff_shared = 0;
	return e->n % a->stand_for ? why(w, "%s: %zu does not divide the %zu experts",
		key_name(m, "experts_per_group").s, a->stand_for, e->n) : 0;
}

const struct family families_mixtures[] = {
	{ .arch = "llama4", .norm = NORM_RMS, .read = llama4, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .weighted = 1 } },
	{ .arch = "smallthinker", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = smallthinker,
	  .decoder = { .routes_input = 1, .f = UNARY_RELU }, .has_experts = 1,
	  .experts = { .reads_gating = 1, .normalise = 1 } },
	{ .arch = "qwen2moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .has_experts = 1 },
	{ .arch = "qwen3moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "olmoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED_TOGETHER },
	  .has_experts = 1 },
	{ .arch = "gpt-oss", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gpt_oss,
	  .decoder = { .ffn_norm = "post_attention_norm", .f = UNARY_SWIGLU_OAI }, .has_experts = 1,
	  .experts = { .gating = GATING_CHOSEN } },
	{ .arch = "gptoss", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gptoss, .attn_output = "attn_out",
	  .decoder = { .f = UNARY_SWIGLU_OAI }, .has_experts = 1, .experts = { .gating = GATING_CHOSEN } },
	{ .arch = "glm4moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .predicts = PREDICTS_BY_KEY,
	  .decoder = { .ffn_norm = "post_attention_norm", .heads = HEADS_NORMED }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "bailingmoe", .norm = NORM_RMS, .has_experts = 1, .experts = { .reads_weights = 1 } },
	{ .arch = "exaone-moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .predicts = PREDICTS_BY_KEY, .read = exaone_moe,
	  .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "afmoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = afmoe, .window = NO_WINDOW,
	  .decoder = { .heads = HEADS_NORMED, .post_norms = 1 }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "mellum", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = mellum, .window = NO_WINDOW,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "deepseek", .norm = NORM_RMS, .has_experts = 1, .experts = { .reads_scale = 1 } },
	{ .arch = "dots1", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "minimax-m2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED_TOGETHER },
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .normalise = 1 } },
	{ .arch = "minimax-m3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = minimax_m3,
	  .decoder = { .heads = HEADS_NORMED, .f = UNARY_SWIGLU_OAI }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "ernie4_5-moe", .norm = NORM_RMS, .has_experts = 1, .experts = { .normalise = 1 },
	  .unused = { "attn_output.bias" } },
	{ .arch = "hunyuan-moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED_LATE },
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "bailingmoe2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .predicts = PREDICTS_BY_KEY,
	  .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "phimoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "hy_v3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .predicts = PREDICTS_BY_KEY,
	  .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "step35", .norm = NORM_RMS, .pairs = ROPE_HALVES, .predicts = PREDICTS_BY_KEY, .read = step35,
	  .decoder = { .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "maple", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = maple,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "laguna", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = laguna, .window = NO_WINDOW,
	  .decoder = { .heads = HEADS_NORMED, .softplus_gates = 1 },
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "deepseek2-ocr", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = deepseek2_ocr, .has_experts = 1,
	  .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "mimo2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .predicts = PREDICTS_BY_KEY, .read = mimo2,
	  .has_experts = 1, .experts = { .gating = GATING_SIGMOID, .normalise = 1 },
	  .unused = { "attn_q.bias", "attn_k.bias", "attn_v.bias", "attn_qkv.bias" } },
	{ .arch = "grovemoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = grovemoe,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "dbrx", .norm = NORM_LAYER, .pairs = ROPE_HALVES, .read = dbrx,
	  .decoder = { .ffn_norm = "attn_output_norm" }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
