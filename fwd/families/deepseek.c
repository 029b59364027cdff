/* Families with latent attention: DeepSeek 2 and 3, the architectures derived from them, and MiniCPM 3. */
#include <math.h>
#include <string.h>

#include "fwd/builder/builder.h"
#include "fwd/builder/indexer.h"
#include "fwd/builder/latent.h"
#include "fwd/mixers/delta.h"
#include "fwd/mixers/mixer.h"
#include "fwd/model/family.h"
#include "fwd/model/layers.h"
#include "fwd/residual/attn_res.h"
#include "fwd/residual/hyper.h"
#include "fwd/residual/norm_gates.h"
#include "lib/base/fmath.h"
#include "lib/base/size.h"

/* YaRN's correction of the score's magnitude. With a multiplier, all of the score is scaled and the rotation leaves
 * lengths unchanged; without one, both the rotated part and the score are scaled. For DeepSeek 2, llama.cpp swaps the
 * two factors and also scales the score with linear scaling, and so do we. In all of them, YaRN with a factor below 1
 * scales the score only. */
static void stretch(struct model *m, double multiplier)
{
	struct rope_spec *r = &m->rope;
	int shrinks = r->scaling == ROPE_YARN && r->factor < 1, whole = shrinks || !strcmp(m->arch, "deepseek2");
	double magnitude = r->attn_factor, log_factor = fmath_log(r->factor);
	double usual = shrinks ? 1 : 1 + 0.1 * log_factor, given = 1 + multiplier * log_factor;

	if (r->scaling == ROPE_YARN && multiplier > 0) {
		r->attn_factor /= whole ? usual : given;
		magnitude *= whole ? given : usual;
	} else if (r->scaling != ROPE_PLAIN)
		magnitude *= usual * given;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale *= (float)(magnitude * magnitude);
}

/* Latent attention with YaRN's correction. */
static int read_stretched(struct model *m, struct why *w)
{
	double multiplier = 0;

	if (latent_read(m, w) < 0 || key_real(m, "rope.scaling.yarn_log_multiplier", 0, 1e3, &multiplier, w) < 0)
		return -1;
	stretch(m, multiplier);
	return 0;
}

static int deepseek2(struct model *m, struct why *w)
{
	size_t length = (size_t)m->rope.n_ctx_orig;

	return read_stretched(m, w) < 0 || key_size(m, "attention.temperature_length", 1, CTX_MAX, &length, w) < 0
		|| layers_temper(m, length, w) < 0 ? -1 : 0;
}

/* Sparse attention (DeepSeek-AI 2025) over latent rows. attention.indexer.types says which layers have an indexer; the
 * others reuse the choice of the layer before. Without that key, the first `full` layers have an indexer, and after
 * them the last layer of every `period`. */
static int read_sparse(struct model *m, size_t full, size_t period, struct why *w)
{
	static const char *const unused[] = { "indexer.attn_k.weight", "indexer.attn_q_b.weight",
		"indexer.k_norm.weight", "indexer.k_norm.bias", "indexer.proj.weight", NULL };

	if (indexer_read(m, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		size_t own = il < full || (il - full) % period == period - 1;

		if (key_size_at(m, "attention.indexer.types", il, 0, 1, &own, w) < 0)
			return -1;
		m->layer[il].sparse = own ? CHOOSES : SEES_CHOSEN;
		if (!own)
			layers_ignore(m, il, unused);
	}
	if (m->layer[0].sparse != CHOOSES)
		return why(w, "%s: layer 0 has no indexer", key_name(m, "attention.indexer.types").s);
	return 0;
}

/* Sparse attention needs absorbed latent attention and low-rank queries. Call after latent_read(). */
static int check_sparse(struct model *m, struct why *w)
{
	if (!latent_of(m, 0)->absorbed || !latent_of(m, 0)->rank_q)
		return why(w, "%s: not supported without tensors attn_k_b and attn_q_a",
			key_name(m, "attention.indexer.top_k").s);
	return 0;
}

/* DeepSeek 3.2 (2025). */
static int deepseek32(struct model *m, struct why *w)
{
	if (read_sparse(m, m->n_layer, 1, w) < 0 || read_stretched(m, w) < 0)
		return -1;
	indexer_of(m)->pairs = ROPE_HALVES;
	return check_sparse(m, w);
}

/* GLM 5 (Z.ai 2026). The key of YaRN's multiplier is ignored. From version 5.2 on, recognised by its longer context,
 * most layers have no indexer. */
static int glm_dsa(struct model *m, struct why *w)
{
	int later = m->n_ctx_train >= 1 << 20;

	if (read_sparse(m, later ? 3 : m->n_layer, 4, w) < 0 || latent_read(m, w) < 0)
		return -1;
	indexer_of(m)->eps = 0;             /* as in llama.cpp */
	stretch(m, 0);
	return check_sparse(m, w);
}

/* Hunyuan 4 (Tencent 2026): attention sinks and gates, and several residual streams; some files have sparse
 * attention. */
static int hy_v4(struct model *m, struct why *w)
{
	int sparse = gguf_find(m->gguf, key_name(m, "attention.indexer.top_k").s) != NULL;

	if (layers_limit_gates(m, 0, w) < 0
	    || key_required(m, "hyper_connection.count", 2, STREAMS_MAX, &m->n_streams, w) < 0
	    || key_float(m, "hyper_connection.epsilon", 0, 1, &hyper_of(m)->eps, w) < 0
	    || key_float(m, "hyper_connection.magnitude", 1e-6, 1e6, &hyper_of(m)->magnitude, w) < 0
	    || (sparse && read_sparse(m, m->n_layer, 1, w) < 0) || latent_read(m, w) < 0
	    || (sparse && check_sparse(m, w) < 0))
		return -1;
	indexer_of(m)->rope_at = sparse ? indexer_of(m)->dim - m->rope.n_rot : 0;
	if (key_float(m, "attention.layer_norm_rms_epsilon", 0, 1, &indexer_of(m)->eps, w) < 0)
		return -1;
	if (!(hyper_of(m)->magnitude > 0))
		return why(w, "%s: missing", key_name(m, "hyper_connection.magnitude").s);
	layers_find_gates(m);
	return 0;
}

/* A.X K2 (SK Telecom 2026): DeepSeek 3.2 with gates on norms and on attention's result. */
static int axk2(struct model *m, struct why *w)
{
	if (deepseek32(m, w) < 0 || norm_gates_read(m, w) < 0)
		return -1;
	layers_find_gates(m);
	latent_of(m, 0)->gates_low = 1;
	return 0;
}

/* dots 3 note (rednote 2026): latent attention has other sizes in the layers with a window; the layers without one have
 * an indexer. All layers gate each head. */
static int dots3note(struct model *m, struct why *w)
{
	struct latent l = { .dim_rope = m->rope.n_rot, .absorbed = 1, .shared_normed = 1 };

	if (indexer_read(m, w) < 0 || layers_slide(m, 0, w) < 0 || layers_sliding_base(m, w) < 0
	    || key_required(m, "attention.q_lora_rank", 1, RANK_MAX, &l.rank_q, w) < 0
	    || latent_read_some(m, 0, l, w) < 0 || latent_read_some(m, 1, l, w) < 0)
		return -1;
	m->rope_sliding.scaling = m->rope.scaling;
	indexer_of(m)->pairs = ROPE_HALVES;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].sparse = m->layer[il].window ? SEES_ALL : CHOOSES;
	layers_find_gates(m);
	return 0;
}

/* MiniCPM 3 (2024): the scales of MiniCPM as constants. */
static int minicpm3(struct model *m, struct why *w)
{
	m->embedding_scale = 12;
	m->residual_scale = 1.4f / sqrtf((float)m->n_layer);
	m->logit_scale = 256 / (float)m->n_embd;
	return latent_read(m, w);
}

/* Kimi Linear (Moonshot 2025): Kimi delta attention, and latent attention without RoPE in every fourth layer. */
static int kimi_linear(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].rope = NULL;
		if (!m->layer[il].n_head)
			return why(w, "%s: missing", key_name(m, "attention.head_count").s);
	}
	return latent_read(m, w);
}

/* Soft limits for both factors of every gated unit. */
static int read_soft_limits(struct model *m, struct why *w)
{
	struct glu_limit limit = { .act = 0 };

	if (key_float(m, "activation.situ_beta", 1e-3, 1e6, &limit.soft_gate, w) < 0
	    || key_float(m, "activation.situ_linear_beta", -1e6, 1e6, &limit.soft_up, w) < 0)
		return -1;
	if (!(limit.soft_gate > 0))
		return why(w, "%s: missing", key_name(m, "activation.situ_beta").s);
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].limit = m->layer[il].limit_experts = limit;
	return 0;
}

/* Kimi K3 (Moonshot 2026): the layers of Kimi Linear, plus gates, soft limits, experts in a latent space and attention
 * residuals. */
static int kimi_k3(struct model *m, struct why *w)
{
	if (key_float(m, "kda.gate_lower_bound", -1e3, -1e-3, &delta_of(m)->lower_bound, w) < 0
	    || key_size(m, "expert_latent_length", 0, FF_MAX, &m->experts.n_latent, w) < 0
	    || key_required(m, "attn_res.block_size", 1, m->n_layer, &attn_res_of(m)->block_layers, w) < 0
	    || read_soft_limits(m, w) < 0 || kimi_linear(m, w) < 0)
		return -1;
	delta_of(m)->negative = delta_of(m)->lower_bound < 0;
	if (!latent_of(m, 0)->absorbed)
		return why(w, "tensor attn_kv_b of a layer: not supported for architecture %s", m->arch);
	m->n_streams = 1 + size_divide_up(m->n_layer, attn_res_of(m)->block_layers);
	layers_find_gates(m);
	return 0;
}

/* Ling 3 (Inclusion AI 2026): the layers of Kimi Linear, but decays have a lower bound, and latent attention uses RoPE
 * and gates each head. */
static int bailingmoe3(struct model *m, struct why *w)
{
	struct key_name least = key_name(m, "kda.gate_lower_bound");
	int bounded = 1;

	if (key_flag(m, "kda.safe_gate", &bounded, w) < 0 || layers_limit(m, w) < 0
	    || key_float(m, "kda.gate_lower_bound", -1e3, -1e-3, &delta_of(m)->lower_bound, w) < 0)
		return -1;
	if (!bounded)
		return why(w, "%s: false: not supported", key_name(m, "kda.safe_gate").s);
	if (!gguf_find(m->gguf, least.s))
		return why(w, "%s: missing", least.s);
	layers_find_gates(m);
	return latent_read(m, w);
}

/* GLM 5.3 (Z.ai 2026): Kimi delta attention, and in some layers latent attention to groups of positions, which an
 * indexer chooses by the pooled keys of each group. No RoPE; several residual streams. */
static int glm5next(struct model *m, struct why *w)
{
	struct key_name top = key_name(m, "attention.indexer.top_k");
	struct key_name tail = key_name(m, "attention.indexer.kpool_select_tail");
	size_t pool = 1, own = 1;
	int sees_tail = 1;

	if (key_float(m, "kda.gate_lower_bound", -1e3, -1e-3, &delta_of(m)->lower_bound, w) < 0 || kimi_linear(m, w) < 0
	    || indexer_read(m, w) < 0 || hyper_read(m, w) < 0 || layers_limit_all_gates(m, w) < 0
	    || key_required(m, "attention.indexer.kpool", 1, KV_EXTENT, &pool, w) < 0
	    || key_float(m, "attention.layer_norm_epsilon", 0, 1, &indexer_of(m)->eps, w) < 0
	    || key_flag(m, "attention.indexer.kpool_select_tail", &sees_tail, w) < 0 || check_sparse(m, w) < 0)
		return -1;
	if (!sees_tail)
		return why(w, "%s: false: not supported", tail.s);
	if (!(delta_of(m)->lower_bound < 0))
		return why(w, "%s: missing", key_name(m, "kda.gate_lower_bound").s);
	if (KV_EXTENT % pool || indexer_of(m)->top % pool)
		return why(w, "%s: %zu in groups of %zu: not supported", top.s, indexer_of(m)->top, pool);
	indexer_of(m)->groups = hyper_of(m)->averaged = delta_of(m)->negative = 1;
	indexer_of(m)->top /= pool;
	delta_of(m)->eps = 1e-6f;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		l->ratio = l->attends ? pool : 0;
		l->sparse = l->ratio ? CHOOSES : SEES_ALL;
		if (l->ratio && key_size_at(m, "attention.indexer.types", il, 1, 1, &own, w) < 0)
			return -1;
	}
	return 0;
}

const struct family families_deepseek[] = {
	{ .arch = "deepseek2", .norm = NORM_RMS, .read = deepseek2, .predicts = PREDICTS_BY_KEY,
	  .has_experts = 1,
	  .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "deepseek32", .norm = NORM_RMS, .read = deepseek32, .predicts = PREDICTS_BY_KEY, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "axk2", .norm = NORM_RMS, .read = axk2, .predicts = PREDICTS_BY_KEY, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "glm-dsa", .norm = NORM_RMS, .read = glm_dsa, .predicts = PREDICTS_BY_KEY, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "dots3note", .norm = NORM_RMS, .read = dots3note, .predicts = PREDICTS_BY_KEY, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "hy_v4", .norm = NORM_RMS, .read = hy_v4, .streams = &hyper_streams, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "mistral4", .norm = NORM_RMS, .read = deepseek2, .has_experts = 1,
	  .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "plm", .norm = NORM_RMS, .read = latent_read, .decoder = { .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "minicpm3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = minicpm3 },
	{ .arch = "kimi-linear", .norm = NORM_RMS, .read = kimi_linear, .mixer = &mixer_kda, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .normalise = 1, .reads_gating = 1, .reads_scale = 1 } },
	{ .arch = "kimi-k3", .norm = NORM_RMS, .read = kimi_k3, .streams = &attn_res_streams, .mixer = &mixer_kda,
	  .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .normalise = 1, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "glm5next", .norm = NORM_RMS, .unrotated = 1, .read = glm5next, .streams = &hyper_streams,
	  .mixer = &mixer_kda, .predicts = PREDICTS_BY_KEY, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "glm5-next", .norm = NORM_RMS, .unrotated = 1, .read = glm5next, .streams = &hyper_streams,
	  .mixer = &mixer_kda, .predicts = PREDICTS_BY_KEY, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = "bailingmoe3", .norm = NORM_RMS, .read = bailingmoe3, .mixer = &mixer_kda,
	  .predicts = PREDICTS_BY_KEY, .has_experts = 1, .experts = { .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = NULL },
};
