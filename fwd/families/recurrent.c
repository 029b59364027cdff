/* Families with layers that mix positions by something other than attention. */
#include <math.h>
#include <string.h>

#include "fwd/builder/builder.h"
#include "fwd/builder/indexer.h"
#include "fwd/mixers/delta.h"
#include "fwd/mixers/mixer.h"
#include "fwd/mixers/ssm.h"
#include "fwd/model/family.h"
#include "fwd/model/layers.h"
#include "fwd/residual/attn_res.h"
#include "fwd/residual/hyper.h"
#include "fwd/residual/ngrams.h"
#include "lib/base/size.h"

/* LFM2 (Liquid AI 2025): short convolutions, with attention in some layers; all of those may have a window. */
static int lfm2(struct model *m, struct why *w)
{
	size_t window = 0;

	if (key_size(m, "attention.sliding_window", 0, CTX_MAX, &window, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].window = window;
	return 0;
}

/* Mamba (Gu and Dao 2023) and Mamba 2 (2024): no attention, whatever its keys say. */
static int mamba(struct model *m, struct why *w)
{
	int normed = 0;

	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].mixer = m->family->mixer;
	if (m->family->mixer == &mixer_mamba && key_flag(m, "ssm.dt_b_c_rms", &normed, w) < 0)
		return -1;
	ssm_of(m)->norms = normed ? SSM_NORMS_BARE : SSM_NORMS_NONE;
	return 0;
}

/* Jamba (AI21 2024): Mamba, with attention in some layers and experts in others. */
static int jamba(struct model *m, struct why *w)
{
	ssm_of(m)->norms = SSM_NORMS_WEIGHTED;
	return 0;
}

/* PLaMo 2 (PFN 2024): its own variant of Mamba, with attention in every second layer. Like llama.cpp, we scale scores
 * by the size of values. */
static int plamo2(struct model *m, struct why *w)
{
	ssm_of(m)->norms = SSM_NORMS_WEIGHTED;
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].attends)
			m->layer[il].scale = 1 / sqrtf((float)m->layer[il].dim_v);
	return 0;
}

/* Falcon-H1 (TII 2025): attention and Mamba 2 side by side in every layer. Like llama.cpp, we ignore RoPE factors. */
static int falcon_h1(struct model *m, struct why *w)
{
	m->rope.factors = m->rope.factors_long = NULL;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].mixer = &mixer_mamba2;
	return 0;
}

/* Nemotron-H (NVIDIA 2025): each layer is one of attention, Mamba 2 and a feed-forward part. */
static int nemotron_h(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (l->n_head_kv && l->n_ff)
			return why(w, "%s: %zu in layer %zu, which has attention", key_name(m, "feed_forward_length").s,
				l->n_ff, il);
		if (l->n_ff)
			l->mixer = NULL;
	}
	return key_size(m, "moe_latent_size", 0, FF_MAX, &m->experts.n_latent, w);
}

/* Qwen 3.5 and Qwen3-Next (2025): gated delta nets, with gated attention in every fourth layer. */
static int qwen35(struct model *m, struct why *w)
{
	size_t interval = 4, recurrent;

	if (key_size(m, "full_attention_interval", 1, SIZE_MAX >> 1, &interval, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		recurrent = (il + 1) % interval != 0;
		if (key_size_at(m, "attention.recurrent_layers", il, 0, 1, &recurrent, w) < 0)
			return -1;
		l->mixer = recurrent ? &mixer_delta : NULL;
		l->attends = !recurrent;
		l->gates = GATES_ELEMENTS;
	}
	if (layers_check_dims(m, w) < 0)
		return -1;
	delta_of(m)->tiled = strcmp(m->arch, "qwen3next") != 0;
	return delta_of(m)->tiled && layers_sections(m, 1, w) < 0 ? -1 : 0;
}

/* Sparse attention to the best groups of `ratio` positions, top_k positions in all, and to the positions after the last
 * whole group. If these are fewer than ratio - 1, a row also sees some positions of one more group, as in llama.cpp.
 * Layers without a ratio see every position. */
static int read_groups(struct model *m, struct why *w)
{
	static const char *const unused[] = { "indexer.q_proj.weight", "indexer.k_proj.weight",
		"indexer.q_norm.weight", "indexer.k_norm.weight", NULL };
	struct indexer *x = indexer_of(m);
	size_t ratio = 0;

	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (key_size_at(m, "attention.compress_ratios", il, 0, CTX_MAX, &l->ratio, w) < 0)
			return -1;
		l->ratio = l->attends ? l->ratio : 0;
		if (l->ratio && ((ratio && l->ratio != ratio) || KV_EXTENT % l->ratio))
			return why(w, "%s: %zu in layer %zu: not supported",
				key_name(m, "attention.compress_ratios").s, l->ratio, il);
		ratio = size_max(ratio, l->ratio);
	}
	if (ratio && indexer_read(m, w) < 0)
		return -1;
	x->groups = x->split = ratio > 0;
	x->top += ratio ? ratio - 1 : 0;
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].sparse = m->layer[il].ratio ? CHOOSES : SEES_ALL;
		if (!m->layer[il].ratio)
			layers_ignore(m, il, unused);
	}
	return 0;
}

/* Qwen 4 (2026): the mixers of Qwen 3.5 with several residual streams; one layer adds embeddings of n-grams. */
static int qwen4exp(struct model *m, struct why *w)
{
	delta_of(m)->sigmoid_gates = 1;
	return qwen35(m, w) < 0 || key_required(m, "hyper_connection.count", 2, STREAMS_MAX, &m->n_streams, w) < 0
		|| key_required(m, "hyper_connection.low_rank", 1, RANK_MAX, &hyper_of(m)->rank, w) < 0
		|| read_groups(m, w) < 0 ? -1 : ngrams_read(m, w);
}

static void qwen4exp_layer(struct builder *b, size_t il)
{
	if (ngrams_of(b->model)->longest && ngrams_of(b->model)->layer == il)
		build_ngrams(b);
	decoder_layer(b, il);
}

/* BerryLM (RWB 2026): the layers of Qwen 3.5, but delta nets have a decay for each key element; gated attention
 * residuals. */
static int berrylm(struct model *m, struct why *w)
{
	if (qwen35(m, w) < 0 || key_required(m, "kda.gate_rank", 1, RANK_MAX, &delta_of(m)->decay_rank, w) < 0
	    || key_required(m, "attn_res.block_size", 1, RANK_MAX, &attn_res_of(m)->block_layers, w) < 0)
		return -1;
	m->n_streams = 2 + (m->n_layer - 1) / attn_res_of(m)->block_layers;
	return 0;
}

static void berrylm_layer(struct builder *b, size_t il)
{
	build_gated_attn_res(b);
	decoder_layer(b, il);
}

const struct family families_recurrent[] = {
	{ .arch = "lfm2", .n_dense = 1, .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = lfm2,
	  .mixer = &mixer_convolution, .final_norm = "token_embd_norm", .decoder = { .heads = HEADS_NORMED } },
	{ .arch = "lfm2moe", .n_dense = 1, .norm = NORM_RMS, .pairs = ROPE_HALVES, .mixer = &mixer_convolution,
	  .final_norm = "token_embd_norm", .decoder = { .heads = HEADS_NORMED }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_gating = 1, .normalise = 1 } },
	{ .arch = "mamba", .norm = NORM_RMS, .unrotated = 1, .read = mamba, .mixer = &mixer_mamba, .partial = 1 },
	{ .arch = "mamba2", .norm = NORM_RMS, .unrotated = 1, .read = mamba, .mixer = &mixer_mamba2, .partial = 1 },
	{ .arch = "jamba", .norm = NORM_RMS, .unrotated = 1, .read = jamba, .mixer = &mixer_mamba, .has_experts = 1 },
	{ .arch = "plamo2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = plamo2, .mixer = &mixer_plamo2,
	  .decoder = { .heads = HEADS_NORMED, .post_norms = 1 } },
	{ .arch = "falcon-h1", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = falcon_h1, .mixer = &mixer_mamba2,
	  .unused = { "attn_output.bias" } },
	{ .arch = "nemotron_h", .norm = NORM_RMS, .unrotated = 1, .read = nemotron_h, .mixer = &mixer_mamba2,
	  .partial = 1, .epsilon = EPSILON_EITHER,
	  .decoder = { .ffn_norm = "attn_norm", .ungated = 1, .f = UNARY_RELU2 } },
	{ .arch = "nemotron_h_moe", .norm = NORM_RMS, .unrotated = 1, .read = nemotron_h, .mixer = &mixer_mamba2,
	  .partial = 1, .epsilon = EPSILON_EITHER,
	  .decoder = { .ffn_norm = "attn_norm", .ungated = 1, .f = UNARY_RELU2 }, .has_experts = 1,
	  .experts = { .gating = GATING_SIGMOID, .reads_weights = 1 } },
	{ .arch = "qwen35", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen35, .predicts = PREDICTS_BY_KEY,
	  .decoder = { .ffn_norm = "post_attention_norm", .heads = HEADS_NORMED } },
	{ .arch = "qwen35moe", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen35, .predicts = PREDICTS_BY_KEY,
	  .decoder = { .ffn_norm = "post_attention_norm", .heads = HEADS_NORMED }, .has_experts = 1,
	  .experts = { .normalise = 1 } },
	{ .arch = "berrylm", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = berrylm, .layer = berrylm_layer,
	  .decoder = { .ffn_norm = "post_attention_norm", .heads = HEADS_NORMED },
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = "qwen4exp", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen4exp, .layer = qwen4exp_layer,
	  .streams = &gated_streams, .final_norm = "", .predicts = PREDICTS_BY_KEY,
	  .decoder = { .heads = HEADS_NORMED }, .has_experts = 1, .experts = { .normalise = 1 },
	  .unused = { "attn_q.bias", "attn_k.bias", "attn_v.bias" } },
	{ .arch = "qwen3next", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = qwen35, .predicts = PREDICTS_BY_KEY,
	  .decoder = { .ffn_norm = "post_attention_norm", .heads = HEADS_NORMED }, .has_experts = 1,
	  .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
