/* Llama and the families that differ from it only in biases, norms, windows and scales. */
#include <math.h>

#include "fwd/builder/adapters.h"
#include "fwd/builder/builder.h"
#include "fwd/mixers/mixer.h"
#include "fwd/model/layers.h"
#include "lib/base/fmath.h"

/* Granite (IBM 2024): scale factors for embeddings, branches, scores and logits. In the hybrid, a logit_scale of 0
 * means 1; in the others it is refused, because llama.cpp divides by it. */
static int granite(struct model *m, struct why *w)
{
	float scale = 0, divisor = 1;

	if (key_scale(m, "embedding_scale", &m->embedding_scale, w) < 0
	    || key_scale(m, "residual_scale", &m->residual_scale, w) < 0
	    || (m->family->mixer ? key_scale(m, "logit_scale", &divisor, w)
		: key_float(m, "logit_scale", 1e-6, 1e6, &divisor, w)) < 0
	    || key_float(m, "attention.scale", 0, 1e6, &scale, w) < 0)
		return -1;
	m->logit_scale = 1 / divisor;
	for (size_t il = 0; il < m->n_layer && scale > 0; il++)
		m->layer[il].scale = scale;
	return 0;
}

/* Granite with windows (IBM 2026): a separate key says which layers use RoPE. */
static int granite_swa(struct model *m, struct why *w)
{
	size_t rotated;

	for (size_t il = 0; il < m->n_layer; il++) {
		rotated = 1;
		if (key_size_at(m, "attention.rope_pattern", il, 0, 1, &rotated, w) < 0)
			return -1;
		m->layer[il].rope = rotated ? m->layer[il].rope : NULL;
	}
	return layers_slide(m, 0, w) < 0 ? -1 : granite(m, w);
}

/* Granite 4 (IBM 2025): mostly without RoPE. The hybrid has Mamba 2 layers with a few attention layers between them. */
static int granite_unrotated(struct model *m, struct why *w)
{
	int rotated = 1;

	if (key_flag(m, "rope.scaling.finetuned", &rotated, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer && !rotated; il++)
		m->layer[il].rope = NULL;
	return granite(m, w);
}

/* An id for each adapter. */
static int read_ids(struct model *m, const char *name, uint64_t *id, struct why *w)
{
	size_t n = adapters_of(m)->n;

	if (key_integers(m, name, n, 0, INT32_MAX, id, w) < 0)
		return -1;
	return gguf_find(m->gguf, key_name(m, name).s)->n == n ? 0
		: why(w, "%s: not %zu integers", key_name(m, name).s, n);
}

/* Granite with low-rank adapters that certain ids switch on (IBM 2026). */
static int graniteswitch(struct model *m, struct why *w)
{
	struct adapters *a = adapters_of(m);
	double gain = 15;

	if (granite_unrotated(m, w) < 0 || key_required(m, "adapters.count", 1, ADAPTERS_MAX, &a->n, w) < 0
	    || key_required(m, "adapters.lora_rank", 1, RANK_MAX, &a->rank, w) < 0
	    || key_real(m, "adapters.router_gain", 0, 100, &gain, w) < 0
	    || read_ids(m, "adapters.token_ids_activate", a->id, w) < 0
	    || read_ids(m, "adapters.token_ids_substitute", a->substitute, w) < 0)
		return -1;
	a->other = fmath_exp_double(-2 * gain);
	return 0;
}

/* MiniCPM (2024): the scale factors of Granite, with defaults. */
static int minicpm(struct model *m, struct why *w)
{
	float divisor = 256 / (float)m->n_embd;

	m->embedding_scale = 12;
	m->residual_scale = 1.4f / sqrtf((float)m->n_layer);
	if (key_scale(m, "embedding_scale", &m->embedding_scale, w) < 0
	    || key_scale(m, "residual_scale", &m->residual_scale, w) < 0
	    || key_float(m, "logit_scale", 1e-6, 1e6, &divisor, w) < 0)
		return -1;
	m->logit_scale = 1 / divisor;
	return 0;
}

/* SmolLM3 (2025): every fourth layer has no RoPE. */
static int smollm3(struct model *m, struct why *w)
{
	for (size_t il = 3; il < m->n_layer; il += 4)
		m->layer[il].rope = NULL;
	return 0;
}

/* OLMo 2 and 3 (2024, 2025): RoPE scaling applies to the layers without a window only. All layers have the same base:
 * like llama.cpp, we ignore rope.freq_base_swa. */
static int olmo2(struct model *m, struct why *w)
{
	return layers_slide_unscaled(m, 4, w);
}

/* EXAONE 4 (2025): the model with 64 layers has windows, and RoPE only in the layers with one. The smaller model has no
 * windows, and RoPE everywhere. */
static int exaone4(struct model *m, struct why *w)
{
	if (m->n_layer != 64)
		return 0;
	if (layers_slide(m, 4, w) < 0)
		return -1;
	layers_unrotate_full(m);
	return 0;
}

/* OLMo (2024). */
static int olmo(struct model *m, struct why *w)
{
	return key_float(m, "attention.clamp_kqv", 0, 1e6, &m->qkv_clamp, w);
}

/* The text part of Qwen2-VL, Qwen3-VL and PaddleOCR-VL (2024, 2025). */
static int sections(struct model *m, struct why *w)
{
	return layers_sections(m, 0, w) < 0 ? -1 : 0;
}

static int qwen3vl(struct model *m, struct why *w)
{
	return layers_sections(m, 1, w) < 0 ? -1 : 0;
}

/* GLM 4 (2025). GLM-4.1V, whose files have RoPE sections, rotates the pairs (i, i + n_rot / 2). */
static int glm4(struct model *m, struct why *w)
{
	int sections = layers_sections(m, 0, w);

	m->pairs = sections > 0 ? ROPE_HALVES : m->pairs;
	return sections < 0 ? -1 : 0;
}

/* Baichuan (2023): the model with 32 layers has RoPE, the one with 40 layers ALiBi. */
static int baichuan(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer && m->n_layer != 32; il++)
		m->layer[il].rope = NULL;
	return m->n_layer == 40 ? layers_alibi(m, 8, w) : 0;
}

/* Refact (2023), with ALiBi. */
static int refact(struct model *m, struct why *w)
{
	return layers_alibi(m, 8, w);
}

/* Qwen (2023): feed_forward_length counts the gate and up rows together. */
static int qwen(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].n_ff /= 2;
	return 0;
}

/* Hunyuan (Tencent 2025): rope.scaling.alpha raises RoPE's base. */
static int hunyuan(struct model *m, struct why *w)
{
	double alpha = 0, dim = (double)m->layer[0].dim_k;

	if (key_real(m, "rope.scaling.alpha", 0, 1e9, &alpha, w) < 0)
		return -1;
	if (alpha > 0)
		m->rope.base *= dim > 2 ? fmath_exp_double(dim / (dim - 2) * fmath_log(alpha)) : (double)INFINITY;
	if (!(m->rope.base >= 1.0001 && m->rope.base <= 1e15))
		return why(w, "%s: %g: a base of %g", key_name(m, "rope.scaling.alpha").s, alpha, m->rope.base);
	return 0;
}

/* The text part of HunyuanOCR (2025). */
static int hunyuan_vl(struct model *m, struct why *w)
{
	return hunyuan(m, w) < 0 || layers_sections(m, 0, w) < 0 ? -1 : 0;
}

/* Spark 2.5 (iFlytek 2026): a gate for each head, and a separate RoPE base for the layers with a window. */
static int spark2_5(struct model *m, struct why *w)
{
	layers_find_gates(m);
	return layers_slide(m, 0, w) < 0 || layers_sliding_base(m, w) < 0 || layers_sliding_rot(m, w) < 0 ? -1
		: layers_check_dims(m, w);
}

/* Muse Glimmer (2026): gated attention, a norm after the embedding, and RoPE only in the layers with a window. */
static int muse_glimmer(struct model *m, struct why *w)
{
	m->embedding_normed = 1;
	m->post_eps = 1e-8f;
	m->logit_cap = 30;
	layers_find_gates(m);
	if (layers_slide(m, 4, w) < 0 || layers_sliding_rope(m, m->rope.base, w) < 0 || layers_rot_of_first(m, w) < 0
	    || layers_check_dims(m, w) < 0
	    || key_float(m, "logit_scale", 0, 1e6, &m->logit_scale, w) < 0
	    || key_float(m, "final_logit_softcapping", 0, 1e6, &m->logit_cap, w) < 0)
		return -1;
	layers_unrotate_full(m);
	return 0;
}

/* Talkie (2026): norms without weights; each layer adds a multiple of the embedding. */
static int talkie(struct model *m, struct why *w)
{
	m->embedding_normed = m->embedding_carried = 1;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].head_norms_bare = m->layer[il].q_gains = 1;
	return key_float(m, "logit_scale", 0, 1e6, &m->logit_scale, w);
}

static void talkie_layer(struct builder *b, size_t il)
{
	decoder_layer(b, il);
	build_add_scaled(b, "layer_output_scale", b->carried, build_number(b, "layer_output_scale"));
}

/* Whether Chameleon's norms are applied to branches, not to their inputs. */
static int *branches_normed(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(int));
}

/* The text part of Chameleon (Meta 2024): ids 4 to 8195 stand for parts of images. The larger model norms the result of
 * each branch instead of its input. Like llama.cpp, we let its second branch read the first one's result; in the
 * model's own code both read x. */
static int chameleon(struct model *m, struct why *w)
{
	enum { IMAGES_FROM = 4, IMAGES_TO = 8196 };
	const struct gguf_tensor *embd = gguf_tensor(m->gguf, "token_embd.weight");

	if (embd && embd->dim[1] >= IMAGES_TO)
		m->ruled_out = (struct id_range){ IMAGES_FROM, IMAGES_TO };
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].head_norms_layer = 1;
	return key_flag(m, "swin_norm", branches_normed(m), w);
}

static void chameleon_layer(struct builder *b, size_t il)
{
	struct value *x;

	if (!*branches_normed(b->model)) {
		decoder_layer(b, il);
		return;
	}
	x = build_branch(b, build_attention(b, build_qkv(b, b->x), HEADS_NORMED), "attn_output");
	x = build_norm(b, x, "attn_norm");
	build_add(b, x, (struct sum){ .norm = NULL });
	build_add(b, build_branch(b, build_gated(b, x, UNARY_SILU), "ffn_down"), (struct sum){ .norm = "ffn_norm" });
}

/* PLaMo 3 (PFN 2025). */
static int plamo3(struct model *m, struct why *w)
{
	return layers_slide(m, 8, w) < 0 || layers_sliding_rope(m, SLIDING_BASE, w) < 0 ? -1
		: layers_rot_of_first(m, w);
}

/* The text part of CogVLM (2023); images use other weights, which are ignored. Like llama.cpp, we use RoPE with base
 * 10000 and no scaling, whatever the keys say. */
static int cogvlm(struct model *m, struct why *w)
{
	static const char *const unused[] = { "vis_attn_qkv.weight", "vis_attn_output.weight", "vis_gate.weight",
		"vis_up.weight", "vis_down.weight", NULL };

	layers_plain_rope(m, 10000);
	for (size_t il = 0; il < m->n_layer; il++)
		layers_ignore(m, il, unused);
	return 0;
}

/* Mistral 3 (2025): YaRN with a magnitude from a key, and queries scaled up at positions far into the context. */
static int mistral3(struct model *m, struct why *w)
{
	double multiplier = 0;

	if (key_real(m, "rope.scaling.yarn_log_multiplier", 0, 1e3, &multiplier, w) < 0 || layers_betas(m, w) < 0)
		return -1;
	if (m->rope.scaling == ROPE_YARN && m->rope.factor > 1)
		m->rope.attn_factor /= 1 + 0.1 * multiplier * fmath_log(m->rope.factor);
	return layers_temper(m, (size_t)m->rope.n_ctx_orig, w);
}

/* Llama-Nemotron (NVIDIA 2024): layers that an architecture search has pruned. Attention may be replaced by a single
 * product or removed. As in llama.cpp, a layer without a feed-forward part is skipped whole, whatever tensors it
 * has. */
static int deci(struct model *m, struct why *w)
{
	static const char *const unused[] = { "attn_norm.weight", "attn_q.weight", "attn_k.weight", "attn_v.weight",
		"attn_output.weight", "attn_q.bias", "attn_k.bias", "attn_v.bias", "attn_output.bias", NULL };
	static const char *const of_product[] = { "attn_output.bias", NULL };  /* which stands in for attention */

	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (l->mixer == &mixer_product)
			layers_ignore(m, il, of_product);
		if (l->n_head && l->n_ff)
			continue;
		l->mixer = NULL;
		l->attends = 0;
		if (!l->n_ff)
			layers_ignore(m, il, unused);
	}
	return 0;
}

static float softplus(float x)
{
	return x > 20 ? x : (float)fmath_log(1 + fmath_exp_double((double)x));
}

/* Apertus (Swiss AI 2025): xIELU, with parameters for each layer. */
static int apertus(struct model *m, struct why *w)
{
	float *x = model_floats(m, 4 * m->n_layer);
	size_t n = m->n_layer;

	if (!x)
		return why(w, "out of memory");
	if (full_key_floats(m, "xielu.alpha_p", n, x, w) < 0 || full_key_floats(m, "xielu.alpha_n", n, x + n, w) < 0
	    || full_key_floats(m, "xielu.beta", n, x + 2 * n, w) < 0
	    || full_key_floats(m, "xielu.eps", n, x + 3 * n, w) < 0)
		return -1;
	for (size_t il = 0; il < n; il++)
		m->layer[il].xielu = (struct xielu){ .positive = softplus(x[il]), .beta = x[2 * n + il],
			.negative = x[2 * n + il] + softplus(x[n + il]), .eps = x[3 * n + il] };
	return 0;
}

const struct family families_llama[] = {
	/* Touvron et al. 2023; Llama 3, Mistral, SmolLM2, Mixtral, ... */
	{ .arch = "llama", .norm = NORM_RMS, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "llama-embed", .norm = NORM_RMS, .headless = 1, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "qwen", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen },
	{ .arch = "qwen2", .norm = NORM_RMS, .pairs = ROPE_HALVES },
	{ .arch = "qwen2vl", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = sections,
	  .epsilon = EPSILON_NONE, .unused = { "output.bias" } },
	/* the text part of Qwen2.5-VL in files of Ollama's converter */
	{ .arch = "qwen25vl", .norm = NORM_RMS, .pairs = ROPE_HALVES },
	{ .arch = "qwen3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .ranks = RANKS_LAST,
	  .decoder = { .heads = HEADS_NORMED } },
	{ .arch = "qwen3vl", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen3vl,
	  .decoder = { .heads = HEADS_NORMED } },
	{ .arch = "qwen3vlmoe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen3vl,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "smollm3", .norm = NORM_RMS, .read = smollm3 },
	{ .arch = "granite", .norm = NORM_RMS, .read = granite_unrotated },
	{ .arch = "graniteswitch", .norm = NORM_RMS, .read = graniteswitch },
	{ .arch = "granitemoe", .norm = NORM_RMS, .read = granite, .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "granite_swa", .norm = NORM_RMS, .read = granite_swa, .has_experts = 1,
	  .experts = { .normalise = 1 } },
	{ .arch = "granitehybrid", .norm = NORM_RMS, .read = granite_unrotated, .mixer = &mixer_mamba2,
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "minicpm", .norm = NORM_RMS, .read = minicpm },
	{ .arch = "olmo", .norm = NORM_LAYER, .decoder = { .bare_norms = 1 }, .read = olmo },
	{ .arch = "olmo2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = olmo2, .window = NO_WINDOW,
	  .decoder = { .attn_norm = "", .ffn_norm = "", .post_norms = 1, .heads = HEADS_NORMED_TOGETHER } },
	{ .arch = "exaone", .norm = NORM_RMS, .pairs = ROPE_HALVES },
	{ .arch = "exaone4", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = exaone4, .window = 4096,
	  .predicts = PREDICTS_BY_KEY,
	  .decoder = { .attn_norm = "", .ffn_norm = "", .post_norms = 1, .heads = HEADS_NORMED } },
	{ .arch = "seed_oss", .norm = NORM_RMS, .pairs = ROPE_HALVES,
	  .decoder = { .ffn_norm = "post_attention_norm" } },
	{ .arch = "hunyuan-dense", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = hunyuan,
	  .decoder = { .heads = HEADS_NORMED_LATE } },
	{ .arch = "hunyuan_vl", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = hunyuan_vl,
	  .decoder = { .heads = HEADS_NORMED_LATE } },
	{ .arch = "mistral3", .norm = NORM_RMS, .read = mistral3 },
	{ .arch = "apertus", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = apertus,
	  .decoder = { .heads = HEADS_NORMED, .ungated = 1, .xielu = 1 },
	  .unused = { "attn_q_norm.bias", "attn_k_norm.bias" } },
	{ .arch = "bitnet", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .sub_norms = 1 } },
	{ .arch = "ernie4_5", .norm = NORM_RMS, .unused = { "attn_output.bias" } },
	{ .arch = "internlm2", .norm = NORM_RMS },
	{ .arch = "xverse", .norm = NORM_RMS },
	{ .arch = "orion", .norm = NORM_LAYER, .pairs = ROPE_HALVES },
	{ .arch = "baichuan", .norm = NORM_RMS, .read = baichuan },
	{ .arch = "refact", .norm = NORM_RMS, .unrotated = 1, .read = refact,
	  .unused = { "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
	  "attn_output.bias", "ffn_gate.bias", "ffn_up.bias", "ffn_down.bias" } },
	{ .arch = "arcee", .norm = NORM_RMS, .decoder = { .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "maincoder", .norm = NORM_RMS, .decoder = { .heads = HEADS_NORMED_LATE } },
	{ .arch = "openelm", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .heads = HEADS_NORMED } },
	{ .arch = "pangu-embedded", .norm = NORM_RMS, .pairs = ROPE_HALVES,
	  .unused = { "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight" } },
	{ .arch = "deci", .norm = NORM_RMS, .read = deci, .mixer = &mixer_product, .partial = 1 },
	{ .arch = "phi3", .norm = NORM_RMS, .pairs = ROPE_HALVES },
	{ .arch = "chatglm", .norm = NORM_RMS },
	{ .arch = "glm4", .norm = NORM_RMS, .read = glm4, .predicts = PREDICTS_BY_KEY, .decoder = { .post_norms = 1 } },
	{ .arch = "paddleocr", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = sections },
	{ .arch = "cogvlm", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = cogvlm },
	{ .arch = "plamo3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = plamo3, .window = NO_WINDOW,
	  .decoder = { .heads = HEADS_NORMED, .post_norms = 1 } },
	{ .arch = "spark2_5", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = spark2_5,
	  .decoder = { .f = UNARY_GELU } },
	{ .arch = "muse-glimmer", .norm = NORM_RMS, .read = muse_glimmer,
	  .decoder = { .heads = HEADS_NORMED, .post_norms = 1 } },
	{ .arch = "talkie", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = talkie, .layer = talkie_layer,
	  .decoder = { .bare_norms = 1 } },
	{ .arch = "chameleon", .norm = NORM_RMS, .read = chameleon, .layer = chameleon_layer,
	  .decoder = { .heads = HEADS_NORMED } },
	{ .arch = "plamo", .norm = NORM_RMS, .pairs = ROPE_HALVES, .decoder = { .parallel = 1 } },
	{ .arch = NULL },
};
