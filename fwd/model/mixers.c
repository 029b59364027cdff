/* Keys and sizes of mixers. What the fields of struct ssm mean for each:
 *
 *	           inner           state              groups      rank
 *	delta net  all values      of keys, values    key heads   value heads
 *	Mamba      channels        of a channel                   of the time step
 *	Mamba 2    all values      of keys            key heads   value heads
 *	PLaMo 2    all values      of keys            1           value heads
 *	KDA, RWKV 7                of keys, values */
#include "mixers.h"

#include "lib/base/size.h"
#include "fwd/state/segment.h"
#include "keys.h"

/* No real model comes near these, and products of two of them do not overflow. */
enum { INNER_MAX = 1 << 20, STATE_MAX = 1 << 12 };

static const struct {
	unsigned mixers;
	const char *name;
	size_t most, at;
} keys[] = {
	{ MIXER_CONVOLUTION, "shortconv.l_cache", STATE_CHUNK, offsetof(struct ssm, taps) },
	{ MIXER_DELTA | MIXER_KDA | MIXER_MAMBA | MIXER_MAMBA2 | MIXER_PLAMO2, "ssm.conv_kernel", STATE_CHUNK,
	  offsetof(struct ssm, taps) },
	{ MIXER_DELTA | MIXER_MAMBA | MIXER_MAMBA2 | MIXER_PLAMO2, "ssm.inner_size", INNER_MAX,
	  offsetof(struct ssm, inner) },
	{ MIXER_DELTA | MIXER_MAMBA | MIXER_MAMBA2 | MIXER_PLAMO2, "ssm.state_size", STATE_MAX,
	  offsetof(struct ssm, state) },
	{ MIXER_KDA, "kda.head_dim", STATE_MAX, offsetof(struct ssm, state) },
	{ MIXER_RWKV6, "time_decay_extra_dim", RANK_MAX, offsetof(struct ssm, rank_w) },
	{ MIXER_RWKV6, "time_mix_extra_dim", RANK_MAX, offsetof(struct ssm, rank_a) },
	{ MIXER_RWKV6 | MIXER_RWKV7, "wkv.head_size", RWKV_HEAD_MAX, offsetof(struct ssm, state) },
	{ MIXER_DELTA | MIXER_MAMBA2, "ssm.group_count", RANK_MAX, offsetof(struct ssm, groups) },
	{ MIXER_DELTA | MIXER_MAMBA | MIXER_MAMBA2 | MIXER_PLAMO2, "ssm.time_step_rank", RANK_MAX,
	  offsetof(struct ssm, rank) },
	{ MIXER_RWKV7, "attention.decay_lora_rank", RANK_MAX, offsetof(struct ssm, rank_w) },
	{ MIXER_RWKV7, "attention.iclr_lora_rank", RANK_MAX, offsetof(struct ssm, rank_a) },
	{ MIXER_RWKV7, "attention.value_residual_mix_lora_rank", RANK_MAX, offsetof(struct ssm, rank_v) },
};

/* Value heads must be of equal size, and the same number of them must read each key head. */
static int check_heads(const struct model *m, struct why *w)
{
	const struct ssm *s = &m->ssm;

	if (s->rank % s->groups)
		return why(w, "%s: %zu does not divide the %zu heads", key_name(m, "ssm.group_count").s, s->groups,
			s->rank);
	if (s->inner % s->rank)
		return why(w, "%s: %zu does not divide %zu", key_name(m, "ssm.time_step_rank").s, s->rank, s->inner);
	return 0;
}

int mixers_read(struct model *m, struct why *w)
{
	unsigned mixers = 0;

	for (size_t il = 0; il < m->n_layer; il++)
		mixers |= m->layer[il].mixers;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t *to = (size_t *)((char *)&m->ssm + keys[i].at);

		if (mixers & keys[i].mixers && key_required(m, keys[i].name, 1, keys[i].most, to, w) < 0)
			return -1;
	}
	if (mixers & (MIXER_RWKV6 | MIXER_RWKV7) && m->n_embd % m->ssm.state)
		return why(w, "%s: %zu does not divide the width %zu", key_name(m, "wkv.head_size").s, m->ssm.state,
			m->n_embd);
	if (mixers & MIXER_PLAMO2)
		m->ssm.groups = 1;
	return mixers & (MIXER_DELTA | MIXER_MAMBA2 | MIXER_PLAMO2) ? check_heads(m, w) : 0;
}

size_t mixers_plamo2_step(const struct model *m)
{
	return size_max(64, m->n_embd / 16);
}

size_t mixers_rank(const struct ssm *s)
{
	return size_max(size_max(s->rank_w, s->rank_a), size_max(s->rank_v, s->rank_g));
}

/* q, k and v, the gates, then space for what attn_q makes: both, interleaved head by head. */
size_t mixers_qkv(const struct layer *l)
{
	return layer_qkv(l) + (l->gates ? 3 * l->n_head * l->dim_k : 0);
}

struct delta_sizes mixers_delta(const struct model *m, const struct layer *l)
{
	const struct ssm *s = &m->ssm;
	size_t all = l->n_head * s->state;

	if (l->mixers & MIXER_KDA)
		return (struct delta_sizes){ .values = all, .keys = all, .heads = l->n_head, .heads_k = l->n_head,
			.decays = all, .rank = s->state };
	return (struct delta_sizes){ .values = s->inner, .keys = s->groups * s->state, .heads = s->rank,
		.heads_k = s->groups, .decays = s->decay_rank ? s->rank * s->state : s->rank, .rank = s->decay_rank };
}

/* Gates and result; q, k and v; decays and betas; and space for all but the result before they are deinterleaved. */
size_t mixers_delta_wide(const struct delta_sizes *d)
{
	return 5 * d->values + 4 * d->keys + 2 * (d->decays + d->heads) + d->rank;
}

/* Gates and result; q, k and v; the same before they are deinterleaved; decays and betas. */
size_t mixers_lightning_wide(const struct layer *l)
{
	return l->n_head * (8 * l->dim_k + 2);
}

size_t mixers_wide(const struct model *m, const struct layer *l)
{
	const struct ssm *s = &m->ssm;
	struct delta_sizes delta = mixers_delta(m, l);
	size_t n = 0;

	if (l->mixers & MIXER_ATTENTION)
		n = mixers_qkv(l);
	if (l->mixers & (MIXER_DELTA | MIXER_KDA))
		n = size_max(n, mixers_delta_wide(&delta));
	if (l->mixers & MIXER_LIGHTNING)
		n = size_max(n, mixers_lightning_wide(l));
	if (l->mixers & MIXER_CONVOLUTION)
		n = size_max(n, 3 * m->n_embd);
	if (l->mixers & MIXER_MAMBA2)
		n = size_max(n, 2 * (s->inner + s->groups * s->state + s->rank));
	if (l->mixers & MIXER_PLAMO2)
		n = size_max(n, 4 * s->inner + 2 * (s->state + s->rank) + mixers_plamo2_step(m));
	if (l->mixers & MIXER_MAMBA)
		n = size_max(n, 3 * s->inner + s->rank + 2 * s->state);
	if (l->mixers & MIXER_RWKV7)
		n = size_max(n, 7 * m->n_embd + mixers_rank(s));
	if (l->mixers & MIXER_RWKV6)
		n = size_max(n, size_max(7 * m->n_embd + size_max(s->rank_w, 5 * s->rank_a), 2 * m->n_embd + l->n_ff));
	return n;
}

size_t mixers_h(const struct model *m, const struct layer *l)
{
	size_t n = l->mixers & (MIXER_ATTENTION | MIXER_LIGHTNING) ? l->n_head * l->dim_v : 0;

	if (l->mixers & MIXER_KDA)
		n = size_max(n, l->n_head * m->ssm.state);
	return l->mixers & (MIXER_DELTA | MIXER_MAMBA | MIXER_MAMBA2 | MIXER_PLAMO2)
		? size_max(n, m->ssm.inner) : n;
}
