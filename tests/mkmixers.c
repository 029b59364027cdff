/* mkmixers: the layers' mixers other than attention. */
#include "mkparts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/gguf/formats.h"

struct state_space part_state_space(const struct mkweights *k)
{
	const struct mkshape *s = &k->s;

	if (part_has_mixer(k, 'd'))
		return (struct state_space){ .inner = s->n_head * s->head_dim, .heads = s->n_head,
			.state = s->head_dim, .groups = s->n_head_kv };
	return (struct state_space){ .inner = 2 * s->n_embd, .heads = 2 * s->n_embd / s->head_dim,
		.state = 2 * s->head_dim, .groups = 2 };
}

/* A vector of floats without .weight in its name. */
static void bare(struct mkweights *k, uint32_t il, const char *part, const uint64_t dim[3], float mean, float sigma)
{
	char name[64];

	snprintf(name, sizeof name, "blk.%u.%s", il, part);
	part_tensor(k, name, FORMAT_F32, dim, mean, sigma);
}

/* Half-lives from one position to some hundreds. */
void mkmixers_state_space(struct mkweights *k, uint32_t il)
{
	struct state_space p = part_state_space(k);
	uint32_t channels = p.inner + 2 * p.groups * p.state;

	part_matrix(k, part_name(il, "ssm_in", "weight"), 'm', k->s.n_embd, p.inner + channels + p.heads, 1);
	part_tensor(k, part_name(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, channels }, 0, 0.7f);
	part_bias(k, il, "ssm_conv1d", channels, 0.1f);
	part_vector(k, part_name(il, "ssm_dt", "bias"), p.heads, -3, 1);
	bare(k, il, "ssm_a", (uint64_t[3]){ 1, p.heads }, -1, 0.25f);
	bare(k, il, "ssm_d", (uint64_t[3]){ 1, p.heads }, 1, 0.2f);
	part_tensor(k, part_name(il, "ssm_norm", "weight"), FORMAT_F32,
		(uint64_t[3]){ p.inner / p.groups, p.groups }, 1, 0.1f);
	part_matrix(k, part_name(il, "ssm_out", "weight"), 'm', p.inner, k->s.n_embd, 1);
}

void mkmixers_delta_net(struct mkweights *k, uint32_t il)
{
	struct state_space p = part_state_space(k);
	uint32_t n = k->s.n_embd, channels = p.inner + 2 * p.groups * p.state, rank = k->family->decay_rank;

	part_matrix(k, part_name(il, "attn_qkv", "weight"), 'm', n, channels, 1);
	part_matrix(k, part_name(il, "attn_gate", "weight"), 'm', n, p.inner, 1);
	if (k->family->fused_decay)
		part_matrix(k, part_name(il, "ssm_ba", "weight"), 'm', n, 2 * p.heads, 1);
	else {
		part_matrix(k, part_name(il, "ssm_beta", "weight"), 'm', n, p.heads, 1);
		if (!rank)
			part_matrix(k, part_name(il, "ssm_alpha", "weight"), 'm', n, p.heads, 1);
	}
	if (rank) {
		part_matrix(k, part_name(il, "ssm_f_a", "weight"), 'm', n, rank, 1);
		part_matrix(k, part_name(il, "ssm_f_b", "weight"), 'm', rank, p.inner, 1);
	}
	part_tensor(k, part_name(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, channels }, 0, 0.7f);
	part_vector(k, part_name(il, "ssm_dt", "bias"), rank ? p.inner : p.heads, -3, 1);
	bare(k, il, "ssm_a", (uint64_t[3]){ p.heads }, -1, 0.25f);
	part_vector(k, part_name(il, "ssm_norm", "weight"), p.state, 1, 0.1f);
	part_matrix(k, part_name(il, "ssm_out", "weight"), 'm', p.inner, n, 1);
}

/* Two matrices with as few elements between them as a head has, or a single one. */
static void narrow(struct mkweights *k, uint32_t il, const char *first, const char *second)
{
	uint32_t d = k->s.head_dim;

	if (k->family->whole_decays) {
		part_matrix(k, part_name(il, first, "weight"), 'm', k->s.n_embd, k->s.n_head * d, 1);
		return;
	}
	part_matrix(k, part_name(il, first, "weight"), 'm', k->s.n_embd, d, 1);
	part_matrix(k, part_name(il, second, "weight"), 'm', d, k->s.n_head * d, 1);
}

void mkmixers_kda(struct mkweights *k, uint32_t il)
{
	static const char *const inputs[][2] = { { "attn_q", "ssm_conv1d_q" }, { "attn_k", "ssm_conv1d_k" },
		{ "attn_v", "ssm_conv1d_v" } };
	uint32_t n = k->s.n_embd, heads = k->s.n_head, all = heads * k->s.head_dim;

	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		part_matrix(k, part_name(il, inputs[i][0], "weight"), 'm', n, all, 1);
		part_tensor(k, part_name(il, inputs[i][1], "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, 1, all }, 0,
			0.7f);
	}
	narrow(k, il, "ssm_f_a", "ssm_f_b");
	if (k->family->whole_gates)
		part_matrix(k, part_name(il, "ssm_g", "weight"), 'm', n, all, 1);
	else
		narrow(k, il, "ssm_g_a", "ssm_g_b");
	part_matrix(k, part_name(il, "ssm_beta", "weight"), 'm', n, heads, 1);
	part_vector(k, part_name(il, "ssm_dt", "bias"), all, -3, 1);
	bare(k, il, "ssm_a", k->family->whole_gates ? (uint64_t[3]){ heads } : (uint64_t[3]){ 1, heads }, -1, 0.25f);
	part_vector(k, part_name(il, "ssm_norm", "weight"), k->s.head_dim, 1, 0.1f);
	part_matrix(k, part_name(il, "attn_output", "weight"), 'm', all, n, 1);
}

void mkmixers_lightning(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, all = k->s.n_head * k->s.head_dim;

	part_matrix(k, part_name(il, "attn_qkv", "weight"), 'm', n, 3 * all, 1);
	part_matrix(k, part_name(il, "attn_gate", "weight"), 'm', n, all, 1);
	part_vector(k, part_name(il, "attn_norm_2", "weight"), all, 1, 0.1f);
	part_matrix(k, part_name(il, "attn_output", "weight"), 'm', all, n, 1);
}

void mkmixers_convolution(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd;

	part_matrix(k, part_name(il, "shortconv.in_proj", "weight"), 'm', n, 3 * n, 1);
	part_tensor(k, part_name(il, "shortconv.conv", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS - 1, n }, 0, 0.7f);
	part_matrix(k, part_name(il, "shortconv.out_proj", "weight"), 'm', n, n, 1);
}

struct latent_sizes part_latent(const struct mkweights *k, int sliding)
{
	uint32_t d = k->s.head_dim, wide = sliding ? 4 * d : 2 * d;

	return (struct latent_sizes){ .rank = wide, .rank_q = 2 * d, .nope = wide,
		.rope = k->family->unrotated ? 0 : d, .v = wide };
}

static void indexer(struct mkweights *k, uint32_t il, uint32_t rank_q)
{
	uint32_t n = k->s.n_embd;
	int other = k->family->kpool_names;

	part_matrix(k, part_name(il, "indexer.attn_q_b", "weight"), 'm', rank_q, INDEXER_HEADS * INDEXER_DIM, 1);
	part_matrix(k, part_name(il, "indexer.attn_k", "weight"), 'm', n, INDEXER_DIM, 1);
	part_vector(k, part_name(il, "indexer.k_norm", "weight"), INDEXER_DIM, 1, 0.1f);
	part_bias(k, il, "indexer.k_norm", INDEXER_DIM, 0.1f);
	part_matrix(k, part_name(il, "indexer.proj", "weight"), 'm', n, INDEXER_HEADS, 1);
	if (!k->family->pool)
		return;
	part_matrix(k, part_name(il, other ? "indexer.kpool_gate" : "indexer_compressor_gate", "weight"), 'm', n,
		INDEXER_DIM, 1);
	part_tensor(k, part_name(il, other ? "indexer.kpool_ape" : "indexer_compressor_ape", "weight"), FORMAT_F32,
		(uint64_t[3]){ INDEXER_DIM, k->family->pool }, 0, 1);
}

void mkmixers_latent(struct mkweights *k, uint32_t il)
{
	struct latent_sizes l = part_latent(k, part_slides(k, il));
	uint32_t n = k->s.n_embd, heads = k->s.n_head;

	if (k->family->whole_queries)
		part_matrix(k, part_name(il, "attn_q", "weight"), 'm', n, heads * (l.nope + l.rope), 1.3f);
	else {
		part_matrix(k, part_name(il, "attn_q_a", "weight"), 'm', n, l.rank_q, 1);
		part_vector(k, part_name(il, "attn_q_a_norm", "weight"), l.rank_q, 1, 0.1f);
		part_matrix(k, part_name(il, "attn_q_b", "weight"), 'm', l.rank_q, heads * (l.nope + l.rope), 1.3f);
	}
	part_matrix(k, part_name(il, "attn_kv_a_mqa", "weight"), 'm', n, l.rank + l.rope, 1.3f);
	part_vector(k, part_name(il, "attn_kv_a_norm", "weight"), l.rank, 1, 0.1f);
	if (k->family->latent == MKLATENT_ABSORBED) {
		part_matrices(k, part_name(il, "attn_k_b", "weight"), 'm', (uint64_t[3]){ l.nope, l.rank, heads }, 1);
		part_matrices(k, part_name(il, "attn_v_b", "weight"), 'm', (uint64_t[3]){ l.rank, l.v, heads }, 1);
	} else
		part_matrix(k, part_name(il, "attn_kv_b", "weight"), 'm', l.rank, heads * (l.nope + l.v), 1);
	part_matrix(k, part_name(il, "attn_output", "weight"), 'm', heads * l.v, n, 1);
	if (k->family->gates)
		part_matrix(k, part_name(il, "attn_gate", "weight"), 'm', k->family->low_gates ? l.rank_q : n,
			k->family->gates > 1 ? heads : heads * l.v, 1);
	if (k->family->sinks)
		part_vector(k, part_name(il, "attn_sinks", "weight"), heads, 0, 1);
	if (k->family->shared_normed)
		part_vector(k, part_name(il, "attn_k_norm", "weight"), l.rope, 1.2f, 0.1f);
	if (k->family->indexer && !part_slides(k, il))
		indexer(k, il, l.rank_q);
}

void mkmixers_scan(struct mkweights *k, uint32_t il)
{
	struct state_space p = part_state_space(k);
	uint32_t rank = part_ranks(k).step;

	part_matrix(k, part_name(il, "ssm_in", "weight"), 'm', k->s.n_embd, 2 * p.inner, 1);
	part_tensor(k, part_name(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, p.inner }, 0, 0.7f);
	part_bias(k, il, "ssm_conv1d", p.inner, 0.1f);
	part_matrix(k, part_name(il, "ssm_x", "weight"), 'm', p.inner, rank + 2 * p.state, 1.5f);
	if (k->family->state_norms) {
		part_vector(k, part_name(il, "ssm_dt_norm", "weight"), rank, 1, 0.1f);
		part_vector(k, part_name(il, "ssm_b_norm", "weight"), p.state, 1, 0.1f);
		part_vector(k, part_name(il, "ssm_c_norm", "weight"), p.state, 0.3f, 0.1f);
	}
	part_matrix(k, part_name(il, "ssm_dt", "weight"), 'm', rank, p.inner, 1);
	part_vector(k, part_name(il, "ssm_dt", "bias"), p.inner, -3, 1);
	bare(k, il, "ssm_a", (uint64_t[3]){ p.state, p.inner }, -1, 0.25f);
	bare(k, il, "ssm_d", (uint64_t[3]){ p.inner }, 1, 0.2f);
	part_matrix(k, part_name(il, "ssm_out", "weight"), 'm', p.inner, k->s.n_embd, 1);
}

void mkmixers_plamo2(struct mkweights *k, uint32_t il)
{
	struct state_space p = part_state_space(k);
	uint32_t step = k->s.n_embd / 16 > 64 ? k->s.n_embd / 16 : 64;

	part_matrix(k, part_name(il, "ssm_in", "weight"), 'm', k->s.n_embd, 2 * p.inner, 1);
	part_tensor(k, part_name(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, p.inner }, 0, 0.7f);
	part_matrix(k, part_name(il, "ssm_x", "weight"), 'm', p.inner, step + 2 * p.state, 1.5f);
	bare(k, il, "ssm_dt_norm", (uint64_t[3]){ step }, 1, 0.1f);
	bare(k, il, "ssm_b_norm", (uint64_t[3]){ p.state }, 1, 0.1f);
	bare(k, il, "ssm_c_norm", (uint64_t[3]){ p.state }, 0.3f, 0.1f);
	part_matrix(k, part_name(il, "ssm_dt", "weight"), 'm', step, p.heads, 1);
	part_vector(k, part_name(il, "ssm_dt", "bias"), p.heads, -3, 1);
	bare(k, il, "ssm_a", (uint64_t[3]){ p.heads }, -1, 0.25f);
	bare(k, il, "ssm_d", (uint64_t[3]){ p.heads }, 1, 0.2f);
	part_matrix(k, part_name(il, "ssm_out", "weight"), 'm', p.inner, k->s.n_embd, 1);
}

/* y = second · f(first · x) + bias, of rows of n_embd. */
static void low_rank(struct mkweights *k, uint32_t il, char name, uint32_t rank, float mean)
{
	uint32_t n = k->s.n_embd;
	char part[] = "time_mix_?0";

	part[9] = name;
	if (name != 'g')
		part_vector(k, part_name(il, part, "weight"), n, mean, 0.7f);
	part[10] = '1';
	part_matrix(k, part_name(il, part, "weight"), 'm', n, rank, 1);
	part[10] = '2';
	part_matrix(k, part_name(il, part, "weight"), 'm', rank, n, 1);
}

void mkmixers_time_mix(struct mkweights *k, uint32_t il)
{
	static const char *const whole[] = { "time_mix_receptance", "time_mix_key", "time_mix_value",
		"time_mix_output" };
	uint32_t n = k->s.n_embd, whole_layer = part_has_mixer(k, 'r'), gated = whole_layer || k->family->gates;
	struct low_ranks r = part_ranks(k);

	part_tensor(k, part_name(il, "time_mix_lerp_fused", "weight"), FORMAT_F32, (uint64_t[3]){ n, 1, 5 + gated },
		0.5f, 0.2f);
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		part_matrix(k, part_name(il, whole[i], "weight"), 'm', n, n, 1);
	low_rank(k, il, 'w', r.w, -2);
	low_rank(k, il, 'a', r.a, 0);
	low_rank(k, il, 'v', il || whole_layer ? r.v : r.a, 0);
	if (gated)
		low_rank(k, il, 'g', r.g, 0);
	part_vector(k, part_name(il, "time_mix_k_k", "weight"), n, 0.85f, 0.1f);
	part_vector(k, part_name(il, "time_mix_k_a", "weight"), n, 1, 0.1f);
	part_vector(k, part_name(il, "time_mix_r_k", "weight"), n, 0, 0.3f);
	if (whole_layer)
		part_norm(k, il, "time_mix_ln");
}

void mkmixers_time_mix6(struct mkweights *k, uint32_t il)
{
	static const char *const whole[] = { "time_mix_receptance", "time_mix_gate", "time_mix_output" };
	uint32_t n = k->s.n_embd, full = part_has_mixer(k, 'x'), n_kv = full ? n : k->s.n_head_kv * k->s.head_dim;
	struct low_ranks r = part_ranks(k);

	part_vector(k, part_name(il, "time_mix_lerp_x", "weight"), n, 0.5f, 0.2f);
	part_tensor(k, part_name(il, "time_mix_lerp_fused", "weight"), FORMAT_F32, (uint64_t[3]){ n, 1, 5 }, 0.5f,
		0.2f);
	part_matrix(k, part_name(il, "time_mix_w1", "weight"), 'm', n, 5 * r.a, 1);
	part_matrices(k, part_name(il, "time_mix_w2", "weight"), 'm', (uint64_t[3]){ r.a, n, 5 }, 0.3f);
	part_vector(k, part_name(il, "time_mix_decay", "weight"), n, -2, 0.7f);
	part_matrix(k, part_name(il, "time_mix_decay_w1", "weight"), 'm', n, r.w, 1);
	part_matrix(k, part_name(il, "time_mix_decay_w2", "weight"), 'm', r.w, n, 0.5f);
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		part_matrix(k, part_name(il, whole[i], "weight"), 'm', n, n, 1);
	part_matrix(k, part_name(il, "time_mix_key", "weight"), 'm', n, n_kv, 1);
	part_matrix(k, part_name(il, "time_mix_value", "weight"), 'm', n, n_kv, 1);
	if (k->family->qkv_bias) {
		part_bias(k, il, "time_mix_receptance", n, 0.3f);
		part_bias(k, il, "time_mix_key", n_kv, 0.3f);
		part_bias(k, il, "time_mix_value", n_kv, 0.1f);
	}
	if (!full)
		return;
	part_tensor(k, part_name(il, "time_mix_first", "weight"), FORMAT_F32,
		(uint64_t[3]){ k->s.head_dim, n / k->s.head_dim }, 0, 0.3f);
	part_norm(k, il, "time_mix_ln");
}

void mkmixers_channel_mix6(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd;

	mkmixers_channel_mix(k, il);
	part_vector(k, part_name(il, "channel_mix_lerp_r", "weight"), n, 0.5f, 0.2f);
	part_matrix(k, part_name(il, "channel_mix_receptance", "weight"), 'm', n, n, 1);
}

void mkmixers_channel_mix(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, n_ff = k->s.n_ff;

	part_vector(k, part_name(il, "channel_mix_lerp_k", "weight"), n, 0.5f, 0.2f);
	part_matrix(k, part_name(il, "channel_mix_key", "weight"), 'm', n, n_ff, 1.2f);
	part_matrix(k, part_name(il, "channel_mix_value", "weight"), 's', n_ff, n, 1);
}
