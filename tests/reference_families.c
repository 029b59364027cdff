/* reference_families: what families differ in. Formulas are from the families' papers and model cards; where published
 * files differ from those, the files win. */
#include <math.h>
#include <string.h>

#include "reference_keys.h"

/* Sets the window of the layers il with il mod period < period - 1, or of those that the key's array names. */
static void slide(struct reference *m, size_t period)
{
	const struct gguf_value *v = gguf_find(m->g, key_name(m, "attention.sliding_window_pattern"));
	int named = v && v->type == GGUF_ARRAY;
	size_t window = key_size(m, "attention.sliding_window", m->rules->window);

	if (!named)
		period = key_size(m, "attention.sliding_window_pattern", period);
	for (size_t il = 0; il < m->n_layer; il++)
		if (named ? il < v->n && gguf_element_integer(v, il) : il % period < period - 1)
			m->layer[il].window = window;
}

static void sections(struct reference *m)
{
	const struct gguf_value *v = gguf_find(m->g, key_name(m, "rope.dimension_sections"));

	for (size_t i = 0; v && i < v->n && i < 4; i++)
		m->section[i] = (size_t)gguf_element_integer(v, i);
}

static void qwen2vl(struct reference *m)
{
	sections(m);
	m->eps = 0;
}

static void interleaved_sections(struct reference *m)
{
	sections(m);
	m->interleaved = 1;
}

static void glm4(struct reference *m)
{
	sections(m);
	m->halves = m->section[0] && m->section[1];
}

static void scale_sliding(struct reference *m)
{
	m->plain_length = key_real(m, "rope.scaling.attn_factor", 1);
	if (m->yarn && m->factor < 1)
		m->plain_length /= 1 + 0.1 * log(m->factor);
}

static void slide_with_base(struct reference *m, size_t period, double base)
{
	slide(m, period);
	base = key_real(m, "rope.freq_base_swa", base);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].plain_base = m->layer[il].window ? base : 0;
}

/* A separate RoPE base, with the same scaling, for the layers with a window or chunks. */
static void base_of_sliding(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].window || m->layer[il].chunk)
			m->layer[il].base = key_real(m, "rope.freq_base_swa", 0);
}

/* Elements that rotate in layers that slide; or in all layers, if the first one slides. */
static void rot_of_sliding(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].window)
			m->layer[il].n_rot = key_size(m, "rope.dimension_count_swa", m->layer[il].n_rot);
}

static void rot_of_first(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer && m->layer[0].window; il++)
		m->layer[il].n_rot = key_size(m, "rope.dimension_count_swa", m->layer[il].n_rot);
}

static void plain_rope(struct reference *m, double base)
{
	m->rope_base = base;
	m->factor = m->rope_length = 1;
	m->yarn = 0;
	m->factors = "";
}

static void rotate_sliding_only(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].rotated = m->layer[il].window > 0;
}

static void gemma(struct reference *m)
{
	scale_sliding(m);
	m->embedding_scale = sqrt((double)m->n_embd);
}

static void gemma2(struct reference *m)
{
	gemma(m);
	m->attn_cap = key_real(m, "attn_logit_softcapping", 50);
	m->logit_cap = key_real(m, "final_logit_softcapping", 30);
	slide(m, 2);
	base_of_sliding(m);
	rot_of_first(m);
	if (m->n_layer == 46)           /* the model with 27 billion weights */
		m->scale = 1 / sqrt((double)m->n_embd / (double)m->n_head);
}

static void gemma3(struct reference *m)
{
	gemma(m);
	m->logit_cap = key_real(m, "final_logit_softcapping", 0);
	slide_with_base(m, 6, 10000);
	rot_of_first(m);
	if (m->n_layer == 62)
		m->scale = 1 / sqrt((double)m->n_embd / (double)m->n_head);
}

/* In models whose rows see both ways, a window of n positions is n / 2 on each side. */
static void center_windows(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].window)
			m->layer[il].window = m->layer[il].window / 2 + 1;
}

static void gemma_embedding(struct reference *m)
{
	gemma(m);
	slide_with_base(m, 6, 10000);
	center_windows(m);
}

static void t5encoder(struct reference *m)
{
	m->buckets = key_size(m, "attention.relative_buckets_count", 0);
}

/* Every third layer has no window, from the first on. */
static void modern_bert(struct reference *m)
{
	struct gguf_string act;
	struct why w;

	scale_sliding(m);
	if (gguf_text(m->g, key_name(m, "hidden_activation"), &act, &w) > 0 && gguf_is(act, "silu"))
		m->act = SILU;
	for (size_t il = 0; il < m->n_layer; il++)
		if (il % 3) {
			m->layer[il].window = key_size(m, "attention.sliding_window", 0);
			m->layer[il].plain_base = key_real(m, "rope.freq_base_swa", 10000);
		}
	center_windows(m);
}

/* The layers from `own` on read the keys and values of the last earlier layer of the same kind (sliding or full). */
static void share(struct reference *m, size_t own)
{
	m->scale = 1;
	m->bare_values = 1;
	for (size_t il = own; il < m->n_layer; il++)
		m->layer[il].kv_of = m->layer[il].window ? own - 2 : own - 1;
}

static void gemma4(struct reference *m)
{
	gemma(m);
	slide_with_base(m, 6, 10000);
	m->scale = 1;
	m->logit_cap = key_real(m, "final_logit_softcapping", 30);
	m->n_per_layer = key_size(m, "embedding_length_per_layer_input", 0);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct reference_layer *l = &m->layer[il];

		if (!l->window)
			continue;
		l->head_dim = key_size(m, "attention.key_length_swa", l->head_dim);
		l->dim_v = key_size(m, "attention.value_length_swa", l->dim_v);
		l->n_rot = key_size(m, "rope.dimension_count_swa", l->head_dim);
	}
	share(m, m->n_layer - key_size(m, "attention.shared_kv_layers", 0));
}

static void gemma3n(struct reference *m)
{
	gemma(m);
	slide_with_base(m, 5, 10000);
	rot_of_first(m);
	m->logit_cap = 30;
	m->n_per_layer = 256;
	m->n_streams = 4;
	for (size_t il = 0; il < 10 && il < m->n_layer; il++)
		m->layer[il].sparsity = 1.6448533535003662;     /* the 95% quantile of the normal distribution */
	share(m, m->n_layer > 20 ? 20 : m->n_layer);
}

static void granite(struct reference *m)
{
	m->embedding_scale = or_one(key_real(m, "embedding_scale", 1));
	m->residual_scale = or_one(key_real(m, "residual_scale", 1));
	m->logit_scale = 1 / key_real(m, "logit_scale", 1);
	m->scale = key_real(m, "attention.scale", m->scale);
}

static void granite_hybrid(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].rotated = key_flag(m, "rope.scaling.finetuned", 1);
	granite(m);
}

static void granite_swa(struct reference *m)
{
	granite(m);
	slide(m, 1);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].rotated = key_size_at(m, "attention.rope_pattern", il, 1) > 0;
}

static void graniteswitch(struct reference *m)
{
	granite_hybrid(m);
	m->n_adapters = key_size(m, "adapters.count", 0);
	m->other_ids = exp(-2 * key_real(m, "adapters.router_gain", 15));
}

static void minicpm(struct reference *m)
{
	m->embedding_scale = or_one(key_real(m, "embedding_scale", 12));
	m->residual_scale = or_one(key_real(m, "residual_scale", 1.4 / sqrt((double)m->n_layer)));
	m->logit_scale = 1 / key_real(m, "logit_scale", 256 / (double)m->n_embd);
}

static void smollm3(struct reference *m)
{
	for (size_t il = 3; il < m->n_layer; il += 4)
		m->layer[il].rotated = 0;
}

static void olmo2(struct reference *m)
{
	slide(m, 4);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].plain_base = m->layer[il].window ? m->rope_base : 0;
}

static void afmoe(struct reference *m)
{
	gemma(m);
	slide(m, 4);
	base_of_sliding(m);
	rot_of_first(m);
	for (size_t il = 3; il < m->n_layer; il += 4)
		m->layer[il].rotated = 0;
}

/* Element il of the key's limits. */
static double limit_at(const struct reference *m, const char *key, size_t il)
{
	const struct gguf_value *v = gguf_find(m->g, key_name(m, key));

	return v && il < v->n ? gguf_element_real(v, il) : 0;
}

static void step35(struct reference *m)
{
	slide_with_base(m, 0, m->rope_base);
	scale_sliding(m);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct reference_layer *l = &m->layer[il];

		l->n_rot /= l->window ? 1 : 2;
		l->limit = limit_at(m, "swiglu_clamp_shexp", il);
		l->limit_experts = limit_at(m, "swiglu_clamp_exp", il);
	}
}

static void nanbeige(struct reference *m)
{
	m->times = key_size(m, "num_loops", 1);
	m->norms_between = !key_flag(m, "skip_loop_final_norm", 0);
}

static void betas(struct reference *m, double fast)
{
	m->beta_fast = key_real(m, "rope.scaling.yarn_beta_fast", fast);
	m->beta_slow = key_real(m, "rope.scaling.yarn_beta_slow", 1);
}

static void arctic(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].n_ff = m->n_embd;
}

static void grok(struct reference *m)
{
	m->embedding_scale = or_one(key_real(m, "embedding_scale", 78.38367176906169));
	m->logit_scale = key_real(m, "logit_scale", 0.5773502691896257);
	m->scale = key_real(m, "attention.output_scale", 0.08838834764831845);
	m->attn_cap = key_real(m, "attn_logit_softcapping", 30);
	m->logit_cap = key_real(m, "final_logit_softcapping", 0);
	betas(m, 8);
	m->kept = key_real(m, "rope.scaling.yarn_ext_factor", 1);
	if (!m->yarn)
		m->rope_length *= key_real(m, "rope.scaling.yarn_attn_factor", 1);
}

static void talkie(struct reference *m)
{
	m->normed_embedding = 1;
	m->logit_scale = key_real(m, "logit_scale", 1);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].bare_heads = 1;
}

static void chameleon(struct reference *m)
{
	m->norms_branches = key_flag(m, "swin_norm", 0);
	m->no_text_from = 4;
	m->no_text_to = m->n_vocab < 8196 ? 0 : 8196;
}

static void hrm(struct reference *m)
{
	m->embedding_scale = or_one(key_real(m, "embedding_scale", 1));
	m->stack = key_size(m, "hrm.layers_per_stack", 1);
	m->cycle = key_size(m, "hrm.l_cycles", 1) + 1;
}

static void muse(struct reference *m)
{
	slide_with_base(m, 4, m->rope_base);
	scale_sliding(m);
	rot_of_first(m);
	rotate_sliding_only(m);
	m->normed_embedding = 1;
	m->post_eps = 1e-8;
	m->logit_scale = key_real(m, "logit_scale", 1);
	m->logit_cap = key_real(m, "final_logit_softcapping", 30);
}

static void falcon_h1(struct reference *m)
{
	m->factors = "";
}

static void cogvlm(struct reference *m)
{
	plain_rope(m, 10000);
}

static void deepseek_ocr(struct reference *m)
{
	m->scale *= pow(key_real(m, "rope.scaling.attn_factor", 1) * (1 + 0.1 * log(m->factor)), 2);
	plain_rope(m, m->rope_base);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].n_rot = m->layer[il].head_dim;
}

static void spark(struct reference *m)
{
	slide(m, 0);
	base_of_sliding(m);
	rot_of_sliding(m);
}

static void maple(struct reference *m)
{
	spark(m);
	rotate_sliding_only(m);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].limit_experts = limit_at(m, "swiglu_clamp_exp", il);
}

/* The first layer of each period has no window. */
static void laguna(struct reference *m)
{
	size_t window = key_size(m, "attention.sliding_window", 0);
	size_t period = key_size(m, "attention.sliding_window_pattern", 4);

	for (size_t il = 0; il < m->n_layer && window; il++) {
		struct reference_layer *l = &m->layer[il];

		if (il % period == 0)
			continue;
		l->window = window;
		l->plain_base = key_real(m, "rope.freq_base_swa", m->rope_base);
		l->n_rot = key_size(m, "rope.dimension_count_swa", l->n_rot);
	}
}

static void plamo3(struct reference *m)
{
	slide_with_base(m, 8, m->rope_base);
	scale_sliding(m);
	rot_of_first(m);
}

static void mimo2(struct reference *m)
{
	slide_with_base(m, 0, m->rope_base);
	scale_sliding(m);
	m->attn_out_scale = key_real(m, "attention.value_scale", 1);
}

static void k_exaone(struct reference *m)
{
	slide(m, 4);
	rotate_sliding_only(m);
}

static void exaone4(struct reference *m)
{
	if (m->n_layer == 64)
		k_exaone(m);
}

static void command_r(struct reference *m)
{
	m->logit_scale = or_one(key_real(m, "logit_scale", 1));
}

static void cohere2(struct reference *m)
{
	command_r(m);
	slide(m, 4);
	rot_of_first(m);
	rotate_sliding_only(m);
}

static void cohere2moe(struct reference *m)
{
	command_r(m);
	slide(m, 4);
	rotate_sliding_only(m);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].rotated |= !n_weights(m, "blk.%zu.ffn_gate_inp.weight", il);
}

static void clamped(struct reference *m)
{
	m->clamp = key_real(m, "attention.clamp_kqv", 0);
}

static void alibi(struct reference *m)
{
	m->alibi = 8;
}

static void mpt(struct reference *m)
{
	clamped(m);
	m->alibi = key_real(m, "attention.max_alibi_bias", 0);
}

static void jais(struct reference *m)
{
	m->alibi = key_real(m, "attention.max_alibi_bias", 0);
	m->scale = 1 / (double)m->head_dim;
}

static void baichuan(struct reference *m)
{
	m->alibi = m->n_layer == 40 ? 8 : 0;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].rotated = m->n_layer == 32;
}

static void qwen(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].n_ff /= 2;
}

static void gptneox(struct reference *m)
{
	m->parallel = key_flag(m, "use_parallel_residual", 1);
}

static void hunyuan(struct reference *m)
{
	double alpha = key_real(m, "rope.scaling.alpha", 0), d = (double)m->head_dim;

	if (alpha > 0)
		m->rope_base *= pow(alpha, d / (d - 2));
}

static void hunyuan_vl(struct reference *m)
{
	hunyuan(m);
	sections(m);
}

static void mistral3(struct reference *m)
{
	betas(m, 32);
	if (m->yarn)
		m->rope_length /= 1 + 0.1 * key_real(m, "rope.scaling.yarn_log_multiplier", 0) * log(m->factor);
	m->temperature_length = (size_t)m->original_ctx;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].temperature = key_real(m, "attention.temperature_scale", 0);
}

static void apertus(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++) {
		double *x = m->layer[il].xielu, beta = key_real_at(m, "xielu.beta", il);

		x[0] = log1p(exp(key_real_at(m, "xielu.alpha_p", il)));
		x[1] = beta + log1p(exp(key_real_at(m, "xielu.alpha_n", il)));
		x[2] = beta;
		x[3] = key_real_at(m, "xielu.eps", il);
	}
}

/* Latent attention, expanded: k and v are computed for each head. The last n_rot elements of q and k are rotated. */
static void latent(struct reference *m)
{
	m->head_dim = key_size(m, "attention.key_length_mla", m->head_dim);
	m->scale = 1 / sqrt((double)m->head_dim);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct reference_layer *l = &m->layer[il];

		l->head_dim = m->head_dim;
		l->dim_v = key_size(m, "attention.value_length_mla", key_size(m, "attention.value_length", m->dim_v));
		l->n_head_kv = l->n_head;
	}
}

static void bailing3(struct reference *m)
{
	latent(m);
	m->least_decay = key_real(m, "kda.gate_lower_bound", 0);
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].limit = limit_at(m, "swiglu_clamp_shexp", il);
		m->layer[il].limit_experts = limit_at(m, "swiglu_clamp_exp", il);
	}
}

static void kimi_linear(struct reference *m)
{
	latent(m);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].rotated = 0;
}

/* Every layer has an indexer unless the key says otherwise. */
static void indexer(struct reference *m)
{
	const struct gguf_value *types = gguf_find(m->g, key_name(m, "attention.indexer.types"));

	m->index_heads = key_size(m, "attention.indexer.head_count", 0);
	m->index_dim = key_size(m, "attention.indexer.key_length", 0);
	m->index_top = key_size(m, "attention.indexer.top_k", 0);
	m->index_eps = 1e-6;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].chooses = !types || gguf_element_integer(types, il);
}

/* With YaRN, the multiplier scales the whole score, not only its rotated part; with sparse attention, it is 0.1. */
static void deepseek2(struct reference *m)
{
	double factor = key_real(m, "rope.scaling.attn_factor", 1);
	double y = key_real(m, "rope.scaling.yarn_log_multiplier", 0);
	int shrinks = m->yarn && m->factor < 1;
	double usual = shrinks ? 1 : 1 + 0.1 * log(m->factor);
	double grown = m->yarn && y > 0 ? 1 + y * log(m->factor) : usual;
	int other = !shrinks && strcmp(m->arch, "deepseek2");

	latent(m);
	indexer(m);
	m->low_gates = !strcmp(m->arch, "axk2");
	m->index_halves = m->low_gates || !strcmp(m->arch, "deepseek32");
	if (m->yarn && y > 0)
		m->rope_length = factor * (other ? usual / grown : 1);
	m->scale *= pow(factor * (other ? usual : grown), 2);
	if (!m->yarn)
		m->scale *= pow(1 + y * log(m->factor), 2) * (other ? 1 : usual * usual / (grown * grown));
	m->index_eps = strcmp(m->arch, "glm-dsa") ? m->index_eps : 0;
	m->temperature_length = key_size(m, "attention.temperature_length", 0);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].temperature = key_real(m, "attention.temperature_scale", 0);
}

static void dots3note(struct reference *m)
{
	latent(m);
	indexer(m);
	m->index_halves = 1;
	slide(m, 1);
	base_of_sliding(m);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct reference_layer *l = &m->layer[il];

		l->head_dim = l->window ? key_size(m, "attention.key_length_mla_swa", 0) : l->head_dim;
		l->dim_v = l->window ? key_size(m, "attention.value_length_mla_swa", 0) : l->dim_v;
		l->scale = 1 / sqrt((double)l->head_dim);
	}
}

static void hy_v4(struct reference *m)
{
	latent(m);
	indexer(m);
	m->index_eps = m->eps;
	m->index_turns_end = 1;
	m->n_streams = key_size(m, "hyper_connection.count", 1);
	m->hyper_eps = key_real(m, "hyper_connection.epsilon", 0);
	m->magnitude = key_real(m, "hyper_connection.magnitude", 0);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].limit_experts = limit_at(m, "swiglu_clamp_exp", il);
}

static void qwen4(struct reference *m)
{
	interleaved_sections(m);
	m->n_streams = key_size(m, "hyper_connection.count", 1);
	m->magnitude = 2;
	m->gated_streams = 1;
	indexer(m);
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].ratio = key_size_at(m, "attention.compress_ratios", il, 0);
		m->layer[il].chooses = m->layer[il].ratio > 0;
		m->index_top += m->layer[il].ratio ? m->layer[il].ratio - 1 : 0;
	}
	m->ngrams = key_size(m, "ple.ngram_size", 0);
	m->ngram_taps = key_size(m, "ple.conv_kernel", 0);
	m->ngram_end = key_size(m, "ple.eos_token_id", 0);
}

static void minimax_m3(struct reference *m)
{
	indexer(m);
	m->index_local = key_size(m, "attention.indexer.local_blocks", 0);
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].ratio = key_size(m, "attention.indexer.block_size", 0);
		m->layer[il].chooses = n_weights(m, "blk.%zu.ffn_gate_inp.weight", il) > 0;
	}
}

static void deepseek4(struct reference *m)
{
	const struct gguf_value *ratios = gguf_find(m->g, key_name(m, "attention.compress_ratios"));

	m->n_streams = key_size(m, "hyper_connection.count", 1);
	m->hyper_eps = key_real(m, "hyper_connection.epsilon", 0);
	m->rounds = key_size(m, "hyper_connection.sinkhorn_iterations", 0);
	m->magnitude = 2;
	indexer(m);
	m->out_groups = key_size(m, "attention.output_group_count", 1);
	m->rope_length = 1;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct reference_layer *l = &m->layer[il];

		l->ratio = (size_t)gguf_element_integer(ratios, il);
		l->window = key_size(m, "attention.sliding_window", 0);
		l->plain_base = l->ratio ? 0 : m->rope_base;
		l->base = key_real(m, "attention.compress_rope_freq_base", 0);
		l->limit = limit_at(m, "swiglu_clamp_shexp", il);
		l->limit_experts = limit_at(m, "swiglu_clamp_exp", il);
	}
}

static void glm5next(struct reference *m)
{
	kimi_linear(m);
	indexer(m);
	m->n_streams = key_size(m, "hyper_connection.count", 1);
	m->hyper_eps = key_real(m, "hyper_connection.epsilon", 0);
	m->rounds = key_size(m, "hyper_connection.sinkhorn_iterations", 0);
	m->magnitude = 2;
	m->least_decay = key_real(m, "kda.gate_lower_bound", 0);
	m->negative_rates = 1;
	m->unit_eps = 1e-6;
	m->index_eps = key_real(m, "attention.layer_norm_epsilon", 0);
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].ratio = key_size(m, "attention.indexer.kpool", 0);
		m->layer[il].limit = limit_at(m, "swiglu_clamp_shexp", il);
		m->layer[il].limit_experts = limit_at(m, "swiglu_clamp_exp", il);
	}
	m->index_top /= m->layer[0].ratio;
}

static void minimax01(struct reference *m)
{
	m->normed_scale = key_real(m, "residual_scale", 0);
	m->no_text_from = 200032;
	m->no_text_to = m->n_vocab;
}

static void kimi_k3(struct reference *m)
{
	kimi_linear(m);
	m->least_decay = key_real(m, "kda.gate_lower_bound", 0);
	m->negative_rates = 1;
	m->soft_gate = key_real(m, "activation.situ_beta", 0);
	m->soft_up = key_real(m, "activation.situ_linear_beta", 0);
	m->block_layers = key_size(m, "attn_res.block_size", 0);
}

static void minicpm3(struct reference *m)
{
	latent(m);
	m->embedding_scale = 12;
	m->residual_scale = 1.4 / sqrt((double)m->n_layer);
	m->logit_scale = 256 / (double)m->n_embd;
}

static void gpt_oss(struct reference *m)
{
	slide(m, 2);
	base_of_sliding(m);
}

static void llama4(struct reference *m)
{
	m->temperature_offset = 1;
	m->temperature_length = 8192;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct reference_layer *l = &m->layer[il];

		l->rotated = (il + 1) % 4 != 0;
		l->chunk = l->rotated ? 8192 : 0;
		l->bare_heads = l->rotated && m->n_expert != 128;
		l->temperature = l->rotated ? 0 : 0.1;
	}
	base_of_sliding(m);
}

static void grovemoe(struct reference *m)
{
	m->stand_for = key_size(m, "experts_per_group", 1);
	m->adjugates_scale = key_real(m, "expert_group_scale", 0);
}

static void smallthinker(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer && key_size(m, "attention.sliding_window", 0); il++) {
		m->layer[il].window = il % 4 ? 4096 : 0;
		m->layer[il].rotated = il % 4 != 0 || m->n_layer == 4;
	}
	base_of_sliding(m);
}

#define POST_NORMED .layer_norm = 1, .sees_all = 1, .norms_sums = 1, .last_norm = ""
#define UNGATED_GELU .ungated = 1, .act = GELU

static void lfm2(struct reference *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].window = key_size(m, "attention.sliding_window", 0);
}

static void berrylm(struct reference *m)
{
	m->recalled_layers = key_size(m, "attn_res.block_size", 0);
}

static void t5(struct reference *m)
{
	int64_t eos = -1;
	struct why w;

	m->encoder_layers = m->n_layer;
	m->n_layer = key_size(m, "decoder_block_count", m->n_layer);
	m->buckets = key_size(m, "attention.relative_buckets_count", 0);
	m->answer_starts = (int)key_size(m, "decoder_start_token_id", 0);
	if (gguf_integer(m->g, "tokenizer.ggml.eos_token_id", 0, (int64_t)m->n_vocab, &eos, &w) < 0)
		die("%s", w.text);
	m->text_ends = (int)eos;
	m->logit_scale = n_weights(m, "output.weight") ? 1 : 1 / sqrt((double)m->n_embd);
}

static const struct rules families[] = {
	{ .arch = "llama", .normalised = 1 },
	{ .arch = "gpt2", .layer_norm = 1, .unrotated = 1, UNGATED_GELU },
	{ .arch = "gemma", .halves = 1, .act = GELU, .adapt = gemma },
	{ .arch = "gemma2", .halves = 1, .window = 4096, .act = GELU, .post_norms = 1, .adapt = gemma2 },
	{ .arch = "gemma3", .halves = 1, .act = GELU, .post_norms = 1, .heads = HEADS_EACH, .adapt = gemma3 },
	{ .arch = "gemma3n", .halves = 1, .act = GELU, .post_norms = 1, .heads = HEADS_EACH, .adapt = gemma3n },
	{ .arch = "gemma4", .halves = 1, .act = GELU, .post_norms = 1, .heads = HEADS_EACH, .normalised = 1,
	  .beside = 1, .adapt = gemma4 },
	{ .arch = "phi2", .layer_norm = 1, .halves = 1, .parallel = 1, UNGATED_GELU },
	{ .arch = "phi3", .halves = 1 },
	{ .arch = "phimoe", .halves = 1, .normalised = 1 },
	{ .arch = "qwen", .halves = 1, .adapt = qwen },
	{ .arch = "qwen2", .halves = 1 },
	{ .arch = "qwen25vl", .halves = 1 },
	{ .arch = "qwen2vl", .halves = 1, .adapt = qwen2vl },
	{ .arch = "qwen2moe", .halves = 1 },
	{ .arch = "qwen3", .halves = 1, .heads = HEADS_EACH, .ranks = RANKS_LAST },
	{ .arch = "qwen3vl", .halves = 1, .heads = HEADS_EACH, .adapt = interleaved_sections },
	{ .arch = "qwen3vlmoe", .halves = 1, .heads = HEADS_EACH, .normalised = 1, .adapt = interleaved_sections },
	{ .arch = "dream", .halves = 1, .sees_all = 1 },
	{ .arch = "llada", .sees_all = 1 },
	{ .arch = "llada-moe", .halves = 1, .heads = HEADS_EACH, .sees_all = 1 },
	{ .arch = "rnd1", .halves = 1, .heads = HEADS_EACH, .normalised = 1, .sees_all = 1 },
	{ .arch = "qwen3moe", .halves = 1, .heads = HEADS_EACH, .normalised = 1 },
	{ .arch = "grovemoe", .halves = 1, .heads = HEADS_EACH, .normalised = 1, .adapt = grovemoe },
	{ .arch = "gpt-oss", .halves = 1, .norm2 = "post_attention_norm", .act = SWIGLU_OAI, .gate = GATE_CHOSEN,
	  .adapt = gpt_oss },
	{ .arch = "gptoss", .ollama = 1, .halves = 1, .act = SWIGLU_OAI, .gate = GATE_CHOSEN, .adapt = gpt_oss },
	{ .arch = "glm4", .post_norms = 1, .adapt = glm4 },
	{ .arch = "glm4moe", .halves = 1, .norm2 = "post_attention_norm", .heads = HEADS_EACH, .gate = GATE_SIGMOID,
	  .gate_key = 1, .weight_keys = 1 },
	{ .arch = "chatglm" },
	{ .arch = "mistral3", .adapt = mistral3 },
	{ .arch = "llama4", .gate = GATE_SIGMOID, .weighs_inputs = 1, .adapt = llama4 },
	{ .arch = "granite", .adapt = granite_hybrid },
	{ .arch = "graniteswitch", .adapt = graniteswitch },
	{ .arch = "granitemoe", .normalised = 1, .adapt = granite },
	{ .arch = "granite_swa", .normalised = 1, .adapt = granite_swa },
	{ .arch = "smollm3", .adapt = smollm3 },
	{ .arch = "olmo", .layer_norm = 1, .adapt = clamped },
	{ .arch = "olmo2", .halves = 1, .norm1 = "", .norm2 = "", .post_norms = 1, .heads = HEADS_TOGETHER,
	  .adapt = olmo2 },
	{ .arch = "olmoe", .halves = 1, .heads = HEADS_TOGETHER },
	{ .arch = "command-r", .layer_norm = 1, .parallel = 1, .heads = HEADS_EACH, .adapt = command_r },
	{ .arch = "cohere2", .layer_norm = 1, .parallel = 1, .adapt = cohere2 },
	{ .arch = "cohere2moe", .layer_norm = 1, .parallel = 1, .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1,
	  .averaged = 1, .adapt = cohere2moe },
	{ .arch = "starcoder", .layer_norm = 1, .unrotated = 1, UNGATED_GELU },
	{ .arch = "starcoder2", .layer_norm = 1, .halves = 1, UNGATED_GELU },
	{ .arch = "codeshell", .layer_norm = 1, .halves = 1, UNGATED_GELU },
	{ .arch = "stablelm", .layer_norm = 1, .halves = 1, .parallel = 1, .heads = HEADS_EACH },
	{ .arch = "gptneox", .layer_norm = 1, .halves = 1, .adapt = gptneox, UNGATED_GELU },
	{ .arch = "falcon", .layer_norm = 1, .halves = 1, .parallel = 1, UNGATED_GELU },
	{ .arch = "exaone", .halves = 1 },
	{ .arch = "exaone4", .halves = 1, .window = 4096, .norm1 = "", .norm2 = "", .post_norms = 1,
	  .heads = HEADS_EACH, .adapt = exaone4 },
	{ .arch = "exaone-moe", .halves = 1, .heads = HEADS_EACH, .gate_key = 1, .weight_keys = 1, .adapt = k_exaone },
	{ .arch = "afmoe", .halves = 1, .heads = HEADS_EACH, .post_norms = 1, .gate = GATE_SIGMOID, .gate_key = 1,
	  .weight_keys = 1, .adapt = afmoe },
	{ .arch = "hy_v3", .halves = 1, .heads = HEADS_EACH, .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1 },
	{ .arch = "step35", .halves = 1, .heads = HEADS_EACH, .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1,
	  .adapt = step35 },
	{ .arch = "laguna", .halves = 1, .heads = HEADS_EACH, .softplus_gates = 1, .gate = GATE_SIGMOID, .gate_key = 1,
	  .weight_keys = 1, .adapt = laguna },
	{ .arch = "deepseek2-ocr", .halves = 1, .gate_key = 1, .weight_keys = 1, .adapt = deepseek_ocr },
	{ .arch = "mimo2", .halves = 1, .gate = GATE_SIGMOID, .normalised = 1, .adapt = mimo2 },
	{ .arch = "maple", .halves = 1, .heads = HEADS_EACH, .normalised = 1, .limits_gates = 1, .adapt = maple },
	{ .arch = "spark2_5", .halves = 1, .act = GELU, .adapt = spark },
	{ .arch = "muse-glimmer", .heads = HEADS_EACH, .post_norms = 1, .adapt = muse },
	{ .arch = "nanbeige", .adapt = nanbeige },
	{ .arch = "arctic", .normalised = 1, .with_dense = EXPERTS_OF_INPUT, .adapt = arctic },
	{ .arch = "grok", .halves = 1, .act = GELU, .normalised = 1, .post_norms = 1, .with_dense = EXPERTS_AVERAGED,
	  .attn_post_norm = "attn_output_norm", .adapt = grok },
	{ .arch = "talkie", .halves = 1, .carries_embedding = 1, .adapt = talkie },
	{ .arch = "chameleon", .heads = HEADS_EACH, .layer_norm_heads = 1, .adapt = chameleon },
	{ .arch = "minimax-m3", .halves = 1, .heads = HEADS_EACH, .act = SWIGLU_OAI, .gate = GATE_SIGMOID,
	  .gate_key = 1, .weight_keys = 1, .adapt = minimax_m3 },
	{ .arch = "hrm_text", .halves = 1, .adapt = hrm },
	{ .arch = "mellum", .halves = 1, .heads = HEADS_EACH, .normalised = 1, .adapt = olmo2 },
	{ .arch = "maincoder", .heads = HEADS_EACH_LATE },
	{ .arch = "seed_oss", .halves = 1, .norm2 = "post_attention_norm" },
	{ .arch = "hunyuan-dense", .halves = 1, .heads = HEADS_EACH_LATE, .adapt = hunyuan },
	{ .arch = "hunyuan_vl", .halves = 1, .heads = HEADS_EACH_LATE, .adapt = hunyuan_vl },
	{ .arch = "paddleocr", .halves = 1, .adapt = sections },
	{ .arch = "cogvlm", .halves = 1, .adapt = cogvlm },
	{ .arch = "plamo3", .halves = 1, .heads = HEADS_EACH, .post_norms = 1, .adapt = plamo3 },
	{ .arch = "hunyuan-moe", .halves = 1, .heads = HEADS_EACH_LATE, .normalised = 1 },
	{ .arch = "ernie4_5", .unbiased = "attn_output" },
	{ .arch = "ernie4_5-moe", .normalised = 1, .unbiased = "attn_output" },
	{ .arch = "minimax-m2", .halves = 1, .heads = HEADS_TOGETHER, .gate = GATE_SIGMOID, .gate_key = 1,
	  .normalised = 1 },
	{ .arch = "nemotron", .layer_norm = 1, .halves = 1, .ungated = 1, .act = RELU2 },
	{ .arch = "apertus", .halves = 1, .heads = HEADS_EACH, .ungated = 1, .act = XIELU, .adapt = apertus },
	{ .arch = "arcee", .ungated = 1, .act = RELU2 },
	{ .arch = "bailingmoe", .weight_keys = 1 },
	{ .arch = "bailingmoe2", .halves = 1, .heads = HEADS_EACH, .gate_key = 1, .weight_keys = 1 },
	{ .arch = "baichuan", .adapt = baichuan },
	{ .arch = "bitnet", .halves = 1 },
	{ .arch = "bloom", .layer_norm = 1, .unrotated = 1, .adapt = alibi, UNGATED_GELU },
	{ .arch = "dbrx", .layer_norm = 1, .halves = 1, .norm2 = "attn_output_norm", .normalised = 1,
	  .adapt = clamped },
	{ .arch = "deci" },
	{ .arch = "deepseek", .scale_key = 1 },
	{ .arch = "deepseek2", .gate_key = 1, .weight_keys = 1, .adapt = deepseek2 },
	{ .arch = "deepseek32", .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1, .adapt = deepseek2 },
	{ .arch = "axk2", .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1, .adapt = deepseek2 },
	{ .arch = "glm-dsa", .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1, .adapt = deepseek2 },
	{ .arch = "dots3note", .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1, .adapt = dots3note },
	{ .arch = "mistral4", .gate_key = 1, .weight_keys = 1, .adapt = deepseek2 },
	{ .arch = "kimi-linear", .gate = GATE_SIGMOID, .gate_key = 1, .scale_key = 1, .normalised = 1,
	  .adapt = kimi_linear },
	{ .arch = "bailingmoe3", .gate_key = 1, .weight_keys = 1, .adapt = bailing3 },
	{ .arch = "minimax-01", .halves = 1, .normalised = 1, .adapt = minimax01 },
	{ .arch = "kimi-k3", .gate = GATE_SIGMOID, .gate_key = 1, .weight_keys = 1, .normalised = 1,
	  .adapt = kimi_k3 },
	{ .arch = "glm5-next", .gate = GATE_SIGMOID, .limits_gates = 1, .gate_key = 1, .weight_keys = 1,
	  .adapt = glm5next },
	{ .arch = "glm5next", .gate = GATE_SIGMOID, .limits_gates = 1, .gate_key = 1, .weight_keys = 1,
	  .adapt = glm5next },
	{ .arch = "deepseek4", .gate = GATE_ROOT, .limits_gates = 1, .gate_key = 1, .weight_keys = 1,
	  .adapt = deepseek4 },
	{ .arch = "hy_v4", .limits_gates = 1, .gate_key = 1, .weight_keys = 1, .adapt = hy_v4 },
	{ .arch = "minicpm3", .halves = 1, .adapt = minicpm3 },
	{ .arch = "lfm2", .halves = 1, .heads = HEADS_EACH, .last_norm = "token_embd_norm", .adapt = lfm2 },
	{ .arch = "lfm2moe", .halves = 1, .heads = HEADS_EACH, .gate = GATE_SIGMOID, .gate_key = 1, .normalised = 1,
	  .last_norm = "token_embd_norm" },
	{ .arch = "granitehybrid", .normalised = 1, .adapt = granite_hybrid },
	{ .arch = "plamo2", .halves = 1, .heads = HEADS_EACH, .post_norms = 1, .plamo2 = 1 },
	{ .arch = "falcon-h1", .halves = 1, .adapt = falcon_h1, .unbiased = "attn_output" },
	{ .arch = "jamba", .unrotated = 1 },
	{ .arch = "mamba", .unrotated = 1 },
	{ .arch = "rwkv7", .layer_norm = 1, .unrotated = 1, .norm2 = "attn_norm_2" },
	{ .arch = "rwkv6", .layer_norm = 1, .unrotated = 1, .norm2 = "attn_norm_2" },
	{ .arch = "rwkv6qwen2", .unrotated = 1 },
	{ .arch = "arwkv7", .unrotated = 1 },
	{ .arch = "mamba2", .unrotated = 1 },
	{ .arch = "nemotron_h", .unrotated = 1, .norm2 = "attn_norm", .ungated = 1, .act = RELU2 },
	{ .arch = "nemotron_h_moe", .unrotated = 1, .norm2 = "attn_norm", .ungated = 1, .act = RELU2,
	  .gate = GATE_SIGMOID, .weight_keys = 1 },
	{ .arch = "qwen35", .halves = 1, .norm2 = "post_attention_norm", .heads = HEADS_EACH, .tiled_heads = 1 },
	{ .arch = "qwen35moe", .halves = 1, .norm2 = "post_attention_norm", .heads = HEADS_EACH, .tiled_heads = 1,
	  .normalised = 1 },
	{ .arch = "qwen3next", .halves = 1, .norm2 = "post_attention_norm", .heads = HEADS_EACH, .normalised = 1 },
	{ .arch = "berrylm", .halves = 1, .norm2 = "post_attention_norm", .heads = HEADS_EACH, .tiled_heads = 1,
	  .normalised = 1, .adapt = berrylm },
	{ .arch = "qwen4exp", .halves = 1, .heads = HEADS_EACH, .tiled_heads = 1, .normalised = 1, .adapt = qwen4 },
	{ .arch = "dots1", .halves = 1, .heads = HEADS_EACH, .gate_key = 1, .weight_keys = 1 },
	{ .arch = "internlm2" },
	{ .arch = "jais2", .layer_norm = 1, .halves = 1, .ungated = 1, .act = RELU2 },
	{ .arch = "plm", .ungated = 1, .act = RELU2, .adapt = latent },
	{ .arch = "jais", .layer_norm = 1, .unrotated = 1, .adapt = jais },
	{ .arch = "minicpm", .adapt = minicpm },
	{ .arch = "mpt", .layer_norm = 1, .unrotated = 1, .adapt = mpt, UNGATED_GELU },
	{ .arch = "openelm", .halves = 1, .heads = HEADS_EACH },
	{ .arch = "orion", .layer_norm = 1, .halves = 1 },
	{ .arch = "pangu-embedded", .halves = 1 },
	{ .arch = "plamo", .halves = 1, .parallel = 1 },
	{ .arch = "refact", .unrotated = 1, .adapt = alibi },
	{ .arch = "smallthinker", .halves = 1, .act = RELU, .gate_key = 1, .normalised = 1, .routes_input = 1,
	  .adapt = smallthinker },
	{ .arch = "t5", .unrotated = 1, .act = GELU, .last_norm = "dec.output_norm", .adapt = t5 },
	{ .arch = "t5encoder", .unrotated = 1, .act = GELU, .last_norm = "enc.output_norm", .adapt = t5encoder },
	{ .arch = "bert", .unrotated = 1, POST_NORMED, UNGATED_GELU },
	{ .arch = "nomic-bert", .halves = 1, POST_NORMED },
	{ .arch = "nomic-bert-moe", .halves = 1, POST_NORMED, UNGATED_GELU },
	{ .arch = "jina-bert-v2", .unrotated = 1, POST_NORMED, UNGATED_GELU, .heads = HEADS_TOGETHER, .adapt = alibi },
	{ .arch = "jina-bert-v3", .halves = 1, POST_NORMED, UNGATED_GELU },
	{ .arch = "modern-bert", .layer_norm = 1, .halves = 1, .sees_all = 1, .act = GELU, .ranks = RANKS_MEAN,
	  .adapt = modern_bert },
	{ .arch = "neo-bert", .sees_all = 1, .last_norm = "enc.output_norm" },
	{ .arch = "eurobert", .halves = 1, .sees_all = 1 },
	{ .arch = "gemma-embedding", .halves = 1, .sees_all = 1, .act = GELU, .heads = HEADS_EACH, .post_norms = 1,
	  .adapt = gemma_embedding },
	{ .arch = "llama-embed" },
	{ .arch = "xverse" },
};

const struct rules *reference_rules(struct gguf_string arch)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (gguf_is(arch, families[i].arch))
			return &families[i];
	return NULL;
}
