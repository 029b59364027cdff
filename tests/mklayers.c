/* mklayers: attention, feed-forward parts and mixtures of experts. */
#include "mkparts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/gguf/formats.h"

/* Matrices of attn_v and ffn_down are stored more precisely in certain layers. */
static char precise(const struct mkshape *s, uint32_t il)
{
	return il < s->n_layer / 8 || il >= 7 * s->n_layer / 8 || il % 3 == 2 ? 's' : 'm';
}

static int reads_others(const struct mkweights *k, uint32_t il)
{
	return il + k->family->shared_kv >= k->s.n_layer;
}

static void qkv(struct mkweights *k, uint32_t il)
{
	const struct mkshape *s = &k->s;
	uint32_t n_q = s->n_head * s->head_dim, n_kv = s->n_head_kv * s->head_dim;
	uint32_t n_v = s->n_head_kv * part_dim_v(k), with_gates = part_has_mixer(k, 'd') ? 2 * n_q : n_q;

	if (k->family->fused_qkv) {
		part_matrix(k, part_name(il, "attn_qkv", "weight"), 'm', s->n_embd, with_gates + 2 * n_kv, 1.3f);
		if (k->family->qkv_bias == 1)
			part_bias(k, il, "attn_qkv", n_q + 2 * n_kv, 0.1f);
		if (k->family->qkv_bias == 2) {
			part_bias(k, il, "attn_q", n_q, 0.5f);
			part_bias(k, il, "attn_v", n_kv, 0.1f);
		}
		return;
	}
	part_matrix(k, part_name(il, "attn_q", "weight"), 'm', s->n_embd, with_gates, 1.3f);
	if (reads_others(k, il))
		return;
	part_matrix(k, part_name(il, "attn_k", "weight"), 'm', s->n_embd, n_kv, 1.3f);
	if (!k->family->v_from_k || part_slides(k, il))
		part_matrix(k, part_name(il, "attn_v", "weight"), precise(s, il), s->n_embd, n_v, 1);
	if (k->family->qkv_bias) {
		part_bias(k, il, "attn_q", n_q, 0.5f);
		part_bias(k, il, "attn_k", n_kv, 0.5f);
		part_bias(k, il, "attn_v", n_kv, 0.1f);
	}
}

static void head_norm(struct mkweights *k, uint32_t il, const char *part, uint32_t heads)
{
	uint32_t d = k->s.head_dim;
	float mean = k->family->heads_mean > 0 ? k->family->heads_mean : 1.2f;

	switch (k->family->heads) {
	case MKHEADS_PLAIN: return;
	case MKHEADS_ONE: part_vector(k, part_name(il, part, "weight"), d, mean, 0.1f); return;
	case MKHEADS_ALL:
		part_vector(k, part_name(il, part, "weight"), heads * d, mean, 0.1f);
		if (k->family->head_norm_bias)
			part_bias(k, il, part, heads * d, 0.1f);
		return;
	case MKHEADS_ROWS:
		part_tensor(k, part_name(il, part, "weight"), FORMAT_F32, (uint64_t[3]){ d, heads }, mean, 0.1f);
		if (k->family->head_norm_bias)
			part_tensor(k, part_name(il, part, "bias"), FORMAT_F32, (uint64_t[3]){ d, heads }, 0, 0.1f);
		return;
	case MKHEADS_GAINS:
		if (!strcmp(part, "attn_q_norm"))
			part_tensor(k, part_name(il, part, "weight"), FORMAT_F32, (uint64_t[3]){ 1, heads }, mean,
				0.1f);
	}
}

static void images(struct mkweights *k, uint32_t il)
{
	const struct mkshape *s = &k->s;

	part_matrix(k, part_name(il, "vis_attn_qkv", "weight"), 'm', s->n_embd, 3 * s->n_embd, 1);
	part_matrix(k, part_name(il, "vis_attn_output", "weight"), 'm', s->n_embd, s->n_embd, 1);
	part_matrix(k, part_name(il, "vis_gate", "weight"), 'm', s->n_embd, s->n_ff, 1);
	part_matrix(k, part_name(il, "vis_up", "weight"), 'm', s->n_embd, s->n_ff, 1);
	part_matrix(k, part_name(il, "vis_down", "weight"), 'm', s->n_ff, s->n_embd, 1);
}

static void block_indexer(struct mkweights *k, uint32_t il)
{
	part_matrix(k, part_name(il, "indexer.q_proj", "weight"), 'm', k->s.n_embd, BLOCK_HEADS * INDEXER_DIM, 1);
	part_matrix(k, part_name(il, "indexer.k_proj", "weight"), 'm', k->s.n_embd, INDEXER_DIM, 1);
	part_vector(k, part_name(il, "indexer.q_norm", "weight"), INDEXER_DIM, 1, 0.1f);
	part_vector(k, part_name(il, "indexer.k_norm", "weight"), INDEXER_DIM, 1, 0.1f);
}

static void attention(struct mkweights *k, uint32_t il)
{
	const struct mkshape *s = &k->s;
	const char *output = k->family->ollama ? "attn_out" : "attn_output";
	char bare[64];

	snprintf(bare, sizeof bare, "blk.%u.attn_sinks", il);
	if (k->family->block_indexer && il >= k->family->dense)
		block_indexer(k, il);

	qkv(k, il);
	if (k->family->gates)
		part_matrix(k, part_name(il, "attn_gate", "weight"), 'm', s->n_embd,
			k->family->gates > 1 ? s->n_head : s->n_head * s->head_dim, 1);
	if (k->family->images)
		images(k, il);
	if (k->family->sinks)
		part_vector(k, k->family->ollama ? bare : part_name(il, "attn_sinks", "weight"), s->n_head, 0, 1);
	part_matrix(k, part_name(il, output, "weight"), 'm', s->n_head * part_dim_v(k), s->n_embd, 1);
	if (k->family->out_bias)
		part_bias(k, il, output, s->n_embd, 0.1f);
	head_norm(k, il, "attn_q_norm", s->n_head);
	if (!reads_others(k, il))
		head_norm(k, il, "attn_k_norm", s->n_head_kv);
}

static void feed_forward(struct mkweights *k, uint32_t il)
{
	const struct mkfamily *f = k->family;
	uint32_t n_embd = k->s.n_embd, n_ff = k->s.n_ff;

	if (!f->ungated && !f->fused_gate)
		part_matrix(k, part_name(il, "ffn_gate", "weight"), 'm', n_embd, n_ff, 1.5f);
	part_matrix(k, part_name(il, "ffn_up", "weight"), 'm', n_embd, f->fused_gate ? 2 * n_ff : n_ff,
		f->ungated ? 1.5f : 1);
	if (f->ff_bias)
		part_bias(k, il, "ffn_up", n_ff, 0.1f);
	if (f->divided)
		part_vector(k, part_name(il, "ffn.act", "scales"), n_ff, 1, 0.2f);
	part_matrix(k, part_name(il, "ffn_down", "weight"), f->ungated ? 's' : precise(&k->s, il), n_ff, n_embd, 1.5f);
	if (f->ff_bias)
		part_bias(k, il, "ffn_down", n_embd, 0.1f);
}

/* PART of all experts, of cols × rows each */
static void expert(struct mkweights *k, uint32_t il, const char *part, uint32_t cols, uint32_t rows)
{
	uint64_t n = k->family->experts;

	part_matrices(k, part_name(il, part, "weight"), 'm', (uint64_t[3]){ cols, rows, n }, 1.5f);
	if (k->family->expert_bias)
		part_tensor(k, part_name(il, part, "bias"), FORMAT_F32, (uint64_t[3]){ rows, n }, 0, 0.3f);
}

/* The dense part of a layer that has experts, too. */
static void with_dense(struct mkweights *k, uint32_t il)
{
	uint32_t n_ff = k->s.n_ff;

	if (k->family->with_dense > 1) {
		k->s.n_ff = k->s.n_embd;
		part_norm(k, il, "ffn_norm_exps");
	}
	if (k->family->with_dense)
		feed_forward(k, il);
	k->s.n_ff = n_ff;
}

/* Adjugate experts, as wide as a dense part. */
static void adjugates(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, n_ff = k->s.n_ff, experts = k->family->experts / k->family->adjugates;

	part_matrices(k, part_name(il, "ffn_gate_chexps", "weight"), 'm', (uint64_t[3]){ n, n_ff, experts }, 1.5f);
	part_matrices(k, part_name(il, "ffn_up_chexps", "weight"), 'm', (uint64_t[3]){ n, n_ff, experts }, 1.5f);
	part_matrices(k, part_name(il, "ffn_down_chexps", "weight"), 'm', (uint64_t[3]){ n_ff, n, experts }, 1.5f);
}

static void mixture(struct mkweights *k, uint32_t il)
{
	const struct mkfamily *f = k->family;
	uint32_t n_embd = k->s.n_embd, n_ff = (uint32_t)part_expert_ff(k, il), latent = part_expert_latent(k);
	uint32_t width = latent ? latent : n_embd;
	char bare[64];

	with_dense(k, il);
	part_tensor(k, part_name(il, "ffn_gate_inp", "weight"), FORMAT_F32, (uint64_t[3]){ n_embd, f->experts }, 0,
		2 / sqrtf((float)n_embd));
	if (f->expert_bias)
		part_bias(k, il, "ffn_gate_inp", f->experts, 0.5f);
	snprintf(bare, sizeof bare, "blk.%u.exp_probs_b", il);
	if (il < f->by_id)
		part_choices(k, il);
	else if (f->choice_bias > 1)
		part_vector(k, bare, f->experts, 0, 0.3f);
	else if (f->choice_bias)
		part_bias(k, il, "exp_probs_b", f->experts, 0.3f);
	if (!f->ungated)
		expert(k, il, "ffn_gate_exps", width, n_ff);
	expert(k, il, "ffn_up_exps", width, n_ff);
	expert(k, il, "ffn_down_exps", n_ff, width);
	if (latent) {
		int routed = f->latent_experts > 1;

		part_matrix(k, part_name(il, routed ? "ffn_routed_down" : "ffn_latent_down", "weight"), 'm', n_embd,
			latent, 1);
		part_matrix(k, part_name(il, routed ? "ffn_routed_up" : "ffn_latent_up", "weight"), 'm', latent,
			n_embd, 1);
		if (routed)
			part_vector(k, part_name(il, "ffn_routed_norm", "weight"), latent, 1, 0.1f);
	}
	if (f->adjugates)
		adjugates(k, il);
	if (!f->shared)
		return;
	if (f->shared_gate)
		part_vector(k, part_name(il, "ffn_gate_inp_shexp", "weight"), n_embd, 0, 1 / sqrtf((float)n_embd));
	if (!f->ungated)
		part_matrix(k, part_name(il, "ffn_gate_shexp", "weight"), 'm', n_embd, n_ff, 1.5f);
	part_matrix(k, part_name(il, "ffn_up_shexp", "weight"), 'm', n_embd, n_ff, 1);
	part_matrix(k, part_name(il, "ffn_down_shexp", "weight"), 'm', n_ff, n_embd, 1.5f);
}

/* Norms around the experts and the dense part, which the router and its scale precede. */
static void beside(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, n_ff = (uint32_t)part_expert_ff(k, il), experts = k->family->experts;

	feed_forward(k, il);
	part_norm(k, il, "post_ffw_norm_1");
	part_norm(k, il, "pre_ffw_norm_2");
	part_norm(k, il, "post_ffw_norm_2");
	part_vector(k, part_name(il, "ffn_gate_inp", "scale"), n, 1, 0.1f);
	part_tensor(k, part_name(il, "ffn_gate_inp", "weight"), FORMAT_F32, (uint64_t[3]){ n, experts }, 0, 2);
	expert(k, il, "ffn_gate_up_exps", n, 2 * n_ff);
	expert(k, il, "ffn_down_exps", n_ff, n);
	part_vector(k, part_name(il, "ffn_down_exps", "scale"), experts, 1, 0.3f);
}

static void post_norm(struct mkweights *k, uint32_t il, const char *part)
{
	char bare[64];

	snprintf(bare, sizeof bare, "blk.%u.%s", il, part);
	if (k->family->bare_post_norms)
		part_vector(k, bare, k->s.n_embd, 1, 0.1f);
	else if (k->family->post_norms)
		part_norm(k, il, part);
}

static void delta(struct mkweights *k, uint32_t il, const char *part, uint32_t cols, uint32_t rows)
{
	uint64_t n = 1 + k->family->adapters;

	part_matrices(k, part_name(il, part, "lora_a"), 'm', (uint64_t[3]){ cols, ADAPTER_RANK, n }, 1);
	part_matrices(k, part_name(il, part, "lora_b"), 'm', (uint64_t[3]){ ADAPTER_RANK, rows, n }, 1);
}

/* Deltas of all adapters, and of rows without one. */
static void deltas(struct mkweights *k, uint32_t il)
{
	const struct mkshape *s = &k->s;
	uint32_t q = s->n_head * s->head_dim, kv = s->n_head_kv * s->head_dim;

	delta(k, il, "attn_q", s->n_embd, q);
	delta(k, il, "attn_k", s->n_embd, kv);
	delta(k, il, "attn_v", s->n_embd, kv);
	delta(k, il, "attn_output", q, s->n_embd);
	delta(k, il, "ffn_gate", s->n_embd, s->n_ff);
	delta(k, il, "ffn_up", s->n_embd, s->n_ff);
	delta(k, il, "ffn_down", s->n_ff, s->n_embd);
}

static void norm_gates(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, rank = k->family->norm_rank;

	part_matrix(k, part_name(il, "attn_norm_gate_a", "weight"), 'm', n, rank, 2);
	part_matrix(k, part_name(il, "attn_norm_gate_b", "weight"), 'm', rank, n, 2);
	if (il < k->family->dense)
		return;
	part_matrix(k, part_name(il, "ffn_norm_gate_a", "weight"), 'm', n, rank, 2);
	part_matrix(k, part_name(il, "ffn_norm_gate_b", "weight"), 'm', rank, n, 2);
}

static void layer(struct mkweights *k, uint32_t il)
{
	const struct mkfamily *f = k->family;
	char bare[64];

	if ((f->single || part_mixer_of(k, il) != '-') && !(f->bare_first && !il))
		part_norm(k, il, f->norm1 ? f->norm1 : "attn_norm");
	if (part_mixer_of(k, il) == 'p')
		part_matrix(k, part_name(il, "attn_output", "weight"), 'm', k->s.n_embd, k->s.n_embd, 1);
	if (part_has_state_space(k, il))
		mkmixers_state_space(k, il);
	if (part_mixer_of(k, il) == 'h')
		mkmixers_plamo2(k, il);
	if (part_mixer_of(k, il) == 's')
		mkmixers_scan(k, il);
	if (part_mixer_of(k, il) == 'r' || part_mixer_of(k, il) == 'w')
		mkmixers_time_mix(k, il);
	if (part_mixer_of(k, il) == 'x' || part_mixer_of(k, il) == 'q')
		mkmixers_time_mix6(k, il);
	if (part_mixer_of(k, il) == 'd')
		mkmixers_delta_net(k, il);
	if (part_mixer_of(k, il) == 'l')
		mkmixers_lightning(k, il);
	if (part_mixer_of(k, il) == 'k')
		mkmixers_kda(k, il);
	if (part_mixer_of(k, il) == 'c')
		mkmixers_convolution(k, il);
	if (part_has_attention(k, il))
		(f->compressed ? mkcompressed_attention : f->latent ? mkmixers_latent : attention)(k, il);
	post_norm(k, il, f->attn_post_norm ? f->attn_post_norm : "post_attention_norm");
	if (f->twice_normed)
		part_norm(k, il, "attn_norm_2");
	snprintf(bare, sizeof bare, "blk.%u.ffn_norm", il);
	if (f->bare_norm2)
		part_vector(k, bare, k->s.n_embd, 1, 0.1f);
	else if (!f->single)
		part_norm(k, il, f->norm2 ? f->norm2 : "ffn_norm");
	if (!part_has_feed_forward(k, il))
		return;
	if (part_mixer_of(k, il) == 'r')
		mkmixers_channel_mix(k, il);
	else if (part_mixer_of(k, il) == 'x')
		mkmixers_channel_mix6(k, il);
	else
		(f->beside ? beside : mkfamilies_has_experts(f, il) ? mixture : feed_forward)(k, il);
	post_norm(k, il, f->ff_post_norm ? f->ff_post_norm : "post_ffw_norm");
	if (f->per_layer)
		mkstreams_layer(k, il);
	if (f->residuals)
		part_vector(k, part_name(il, "attn_res_score", "weight"), k->s.n_embd, 0, 0.1f);
	if (f->residuals > 1)
		part_vector(k, part_name(il, "attn_res_gate", "weight"), 1, 0.5f, 0.2f);
	else if (f->residuals)
		part_vector(k, part_name(il, "ffn_res_score", "weight"), k->s.n_embd, 0, 0.1f);
	if (f->adapters)
		deltas(k, il);
	if (f->norm_rank)
		norm_gates(k, il);
	if (f->ngrams && il == 1)
		mkstreams_ngrams(k, il);
	if (f->hyper) {
		mkstreams_hyper(k, il, "hc_attn", 2 + (uint32_t)f->stream_matrix);
		mkstreams_hyper(k, il, "hc_ffn", 2 + (uint32_t)f->stream_matrix);
	}
	if (f->out_scale)
		part_vector(k, part_name(il, "layer_output_scale", "weight"), 1, 0.8f, 0.1f);
}

void mklayers_one(struct mkweights *k, uint32_t il)
{
	struct mkshape whole = k->s;

	k->s = part_shape(k, il);
	layer(k, il);
	k->s = whole;
}
