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

/* Half-lives from one position to some hundreds. */
void mkmixers_state_space(struct mkweights *k, uint32_t il)
{
	struct state_space p = part_state_space(k);
	uint32_t channels = p.inner + 2 * p.groups * p.state;
	char a[64], d[64];

	snprintf(a, sizeof a, "blk.%u.ssm_a", il);
	snprintf(d, sizeof d, "blk.%u.ssm_d", il);
	part_matrix(k, part_name(il, "ssm_in", "weight"), 'm', k->s.n_embd, p.inner + channels + p.heads, 1);
	part_tensor(k, part_name(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, channels }, 0, 0.7f);
	part_bias(k, il, "ssm_conv1d", channels, 0.1f);
	part_vector(k, part_name(il, "ssm_dt", "bias"), p.heads, -3, 1);
	part_tensor(k, a, FORMAT_F32, (uint64_t[3]){ 1, p.heads }, -1, 0.25f);
	part_tensor(k, d, FORMAT_F32, (uint64_t[3]){ 1, p.heads }, 1, 0.2f);
	part_tensor(k, part_name(il, "ssm_norm", "weight"), FORMAT_F32, (uint64_t[3]){ p.inner / p.groups, p.groups }, 1,
		0.1f);
	part_matrix(k, part_name(il, "ssm_out", "weight"), 'm', p.inner, k->s.n_embd, 1);
}

void mkmixers_delta_net(struct mkweights *k, uint32_t il)
{
	struct state_space p = part_state_space(k);
	uint32_t n = k->s.n_embd, channels = p.inner + 2 * p.groups * p.state;
	char a[64];

	part_matrix(k, part_name(il, "attn_qkv", "weight"), 'm', n, channels, 1);
	part_matrix(k, part_name(il, "attn_gate", "weight"), 'm', n, p.inner, 1);
	if (k->family->fused_decay)
		part_matrix(k, part_name(il, "ssm_ba", "weight"), 'm', n, 2 * p.heads, 1);
	else {
		part_matrix(k, part_name(il, "ssm_beta", "weight"), 'm', n, p.heads, 1);
		part_matrix(k, part_name(il, "ssm_alpha", "weight"), 'm', n, p.heads, 1);
	}
	part_tensor(k, part_name(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, channels }, 0, 0.7f);
	part_vector(k, part_name(il, "ssm_dt", "bias"), p.heads, -3, 1);
	snprintf(a, sizeof a, "blk.%u.ssm_a", il);
	part_vector(k, a, p.heads, -1, 0.25f);
	part_vector(k, part_name(il, "ssm_norm", "weight"), p.state, 1, 0.1f);
	part_matrix(k, part_name(il, "ssm_out", "weight"), 'm', p.inner, n, 1);
}

void mkmixers_convolution(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd;

	part_matrix(k, part_name(il, "shortconv.in_proj", "weight"), 'm', n, 3 * n, 1);
	part_tensor(k, part_name(il, "shortconv.conv", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS - 1, n }, 0, 0.7f);
	part_matrix(k, part_name(il, "shortconv.out_proj", "weight"), 'm', n, n, 1);
}

struct latent_sizes part_latent(const struct mkweights *k)
{
	return (struct latent_sizes){ .rank = 2 * k->s.head_dim, .rank_q = 2 * k->s.head_dim, .nope = 2 * k->s.head_dim,
		.rope = k->s.head_dim, .v = 2 * k->s.head_dim };
}

void mkmixers_latent(struct mkweights *k, uint32_t il)
{
	struct latent_sizes l = part_latent(k);
	uint32_t n = k->s.n_embd, heads = k->s.n_head;

	part_matrix(k, part_name(il, "attn_q_a", "weight"), 'm', n, l.rank_q, 1);
	part_vector(k, part_name(il, "attn_q_a_norm", "weight"), l.rank_q, 1, 0.1f);
	part_matrix(k, part_name(il, "attn_q_b", "weight"), 'm', l.rank_q, heads * (l.nope + l.rope), 1.3f);
	part_matrix(k, part_name(il, "attn_kv_a_mqa", "weight"), 'm', n, l.rank + l.rope, 1.3f);
	part_vector(k, part_name(il, "attn_kv_a_norm", "weight"), l.rank, 1, 0.1f);
	if (k->family->latent == MKLATENT_ABSORBED) {
		part_matrices(k, part_name(il, "attn_k_b", "weight"), 'm', (uint64_t[3]){ l.nope, l.rank, heads }, 1);
		part_matrices(k, part_name(il, "attn_v_b", "weight"), 'm', (uint64_t[3]){ l.rank, l.v, heads }, 1);
	} else
		part_matrix(k, part_name(il, "attn_kv_b", "weight"), 'm', l.rank, heads * (l.nope + l.v), 1);
	part_matrix(k, part_name(il, "attn_output", "weight"), 'm', heads * l.v, n, 1);
}
