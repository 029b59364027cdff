/* Linear attention, and the mixer of gated delta nets (Yang et al. 2024): q, k and v through a convolution, q and k of
 * length 1, and the result normed head by head before its gate. */
#include "build.h"

#include <math.h>

#include "mixers.h"

void build_linear(struct builder *b, struct op_linear *o)
{
	size_t keys = o->n_head_k * o->dim_k, values = o->n_head * o->dim_v;
	struct op *op;

	o->ring_k = build_ring(b, keys * sizeof(float));
	o->ring_d = build_ring(b, values * sizeof(float));
	o->ring_g = build_ring(b, o->n_head * (o->by_key ? o->dim_k : 1) * sizeof(float));
	o->state = build_state(b, values * o->dim_k);
	build_append(b, &op_linear_gates, NULL, o, sizeof *o);
	op = build_append(b, &op_linear, NULL, o, sizeof *o);
	if (op)
		op->scratch = linear_scratch(o);
	build_leaves(op, 0, "", o->out, values);
	build_append(b, &op_linear_keep, NULL, o, sizeof *o);
}

/* ---- gated delta nets ---- */

/* Where things lie in a row. */
struct places {
	struct buffer gate, out;        /* side by side */
	struct buffer q, k, v;          /* one after the other */
	struct buffer decay, beta;
	struct buffer spare;            /* what has to be sorted: see below */
};

static struct places places(const struct builder *b)
{
	const struct ssm *s = &b->model->ssm;
	struct places p = { .gate = buffer_with(b->plan->wide, mixers_delta(s)) };

	p.out = buffer_at(p.gate, s->inner);
	p.q = buffer_at(p.out, s->inner);
	p.k = buffer_at(p.q, s->groups * s->state);
	p.v = buffer_at(p.k, s->groups * s->state);
	p.decay = buffer_at(p.v, s->inner);
	p.beta = buffer_at(p.decay, s->rank);
	p.spare = buffer_at(p.beta, s->rank);
	return p;
}

/* Of each key head and the value heads that read it. */
static void sort(struct builder *b, const char *name, size_t step, size_t n, const size_t sizes[],
	const struct buffer to[], struct buffer from)
{
	struct op_copy o = { .copies = n };

	for (size_t i = 0; i < n; i++) {
		o.copy[i] = (struct copy){ .from = from, .to = to[i], .heads = b->model->ssm.groups, .n = sizes[i],
			.from_step = step, .to_step = sizes[i] };
		from.at += sizes[i];
	}
	build_append(b, &op_copy, name, &o, sizeof o);
}

/* The products of a layer. Where a file has ssm_in, or ssm_ba, its rows come key head by key head: q, k, v and gate of
 * its value heads, or their betas and decays. */
static void project(struct builder *b, struct packed *x, const struct places *p)
{
	const struct ssm *s = &b->model->ssm;
	size_t values = s->inner / s->groups, heads = s->rank / s->groups, all = 2 * s->state + 2 * values;
	struct buffer ba = buffer_at(p->spare, s->groups * all);
	struct op_product o = { .x = x };

	if (build_has(b, "ssm_in"))
		build_add_product(b, &o, "ssm_in", NARROW, s->groups * all, p->spare);
	else {
		build_add_product(b, &o, "attn_qkv", NARROW, 2 * s->groups * s->state + s->inner, p->q);
		build_add_product(b, &o, "attn_gate", NARROW, s->inner, p->gate);
	}
	if (build_has(b, "ssm_ba"))
		build_add_product(b, &o, "ssm_ba", NARROW, 2 * s->rank, ba);
	else {
		build_add_product(b, &o, "ssm_beta", NARROW, s->rank, p->beta);
		build_add_product(b, &o, "ssm_alpha", NARROW, s->rank, p->decay);
	}
	build_products(b, "ssm_in", &o);
	if (build_has(b, "ssm_in"))
		sort(b, "ssm_qkvz", all, 4, (size_t[]){ s->state, s->state, values, values },
			(struct buffer[]){ p->q, p->k, p->v, p->gate }, p->spare);
	if (build_has(b, "ssm_ba"))
		sort(b, "ssm_ba", 2 * heads, 2, (size_t[]){ heads, heads }, (struct buffer[]){ p->beta, p->decay }, ba);
}

/* x · length / √(x² + eps) of n elements, as an RMS norm. */
static struct norm unit_norm(struct builder *b, size_t n, float length)
{
	float *weight = build_allocate(b, n * sizeof *weight);

	for (size_t i = 0; weight && i < n; i++)
		weight[i] = length / sqrtf((float)n);
	return (struct norm){ .kind = NORM_RMS, .weight = weight, .eps = b->model->eps / (float)n };
}

/* A norm of each head, with the same weights, then the gate. */
static struct packed *gated(struct builder *b, const struct places *p)
{
	const struct ssm *s = &b->model->ssm;
	size_t n = s->inner / s->rank;
	struct op_rows o = { .n = s->inner, .in = p->gate, .out = buffer_with(b->plan->h, s->inner), .f = ROW_GLU,
		.unary = UNARY_SILU, .norm = build_norm_of(b, "ssm_norm", n), .norms = s->rank, .norm_first = 1 };
	float *weight = build_allocate(b, s->inner * sizeof *weight);

	for (size_t i = 0; weight && i < s->inner; i++)
		weight[i] = o.norm.weight[i % n];
	o.norm.weight = weight;
	build_mixed(b, p->gate, 2 * s->inner);
	build_leaves(build_packing(b, "ssm_gate", &o, SLOT_BRANCH), 0, "", o.out, o.n);
	return o.packed;
}

struct packed *build_delta(struct builder *b, struct packed *x)
{
	const struct ssm *s = &b->model->ssm;
	struct places p = places(b);
	struct op_linear o = { .n_head = s->rank, .n_head_k = s->groups, .runs = !s->tiled, .dim_k = s->state,
		.dim_v = s->inner / s->rank, .delta = 1, .q = p.q, .k = p.k, .v = p.v, .d = p.v, .out = p.out,
		.decay = p.decay, .beta = p.beta };

	project(b, x, &p);
	build_convolve(b, "ssm_conv1d", p.q, 2 * s->groups * s->state + s->inner);
	o.q_norm = unit_norm(b, s->state, 1 / sqrtf((float)s->state));
	o.k_norm = unit_norm(b, s->state, 1);
	o.bias = build_vector(b, "ssm_dt", "bias", s->rank);
	o.a = build_vector(b, "ssm_a", "", s->rank);
	build_linear(b, &o);
	return gated(b, &p);
}
