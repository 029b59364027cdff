/* Linear attention, and two mixers made with it: gated delta nets (Yang et al. 2024) and Kimi delta attention (Moonshot
 * 2025). q, k and v go through convolutions; q and k are scaled to length 1; the result is normed head by head and
 * gated. */
#include "build.h"

#include <math.h>

#include "fwd/model/mixers.h"

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
	build_output(op, 0, "", o->out, values);
	build_append(b, &op_linear_keep, NULL, o, sizeof *o);
}

/* ---- gated delta nets and Kimi delta attention ---- */

/* Where the parts of a row are in plan->wide. */
struct row_layout {
	struct delta_sizes sizes;
	struct buffer gate, out;        /* adjacent */
	struct buffer q, k, v;          /* adjacent */
	struct buffer decay, beta;
	struct buffer spare;            /* inputs before they are deinterleaved, or of a second product */
};

static struct row_layout row_layout(const struct builder *b)
{
	struct row_layout p = { .sizes = mixers_delta(b->model, b->layer) };
	const struct delta_sizes *d = &p.sizes;

	p.gate = buffer_with(b->plan->wide, mixers_delta_wide(d));
	p.out = buffer_at(p.gate, d->values);
	p.q = buffer_at(p.out, d->values);
	p.k = buffer_at(p.q, d->keys);
	p.v = buffer_at(p.k, d->keys);
	p.decay = buffer_at(p.v, d->values);
	p.beta = buffer_at(p.decay, d->decays);
	p.spare = buffer_at(p.beta, d->heads);
	return p;
}

/* Scales n elements to `length`: x · length / √(Σx² + eps), expressed as an RMS norm. */
static struct norm unit_norm(struct builder *b, size_t n, float length)
{
	float *weight = build_allocate(b, n * sizeof *weight);

	for (size_t i = 0; weight && i < n; i++)
		weight[i] = length / sqrtf((float)n);
	return (struct norm){ .kind = NORM_RMS, .weight = weight,
		.eps = (b->model->ssm.eps > 0 ? b->model->ssm.eps : b->model->eps) / (float)n };
}

/* ssm_a; negated if the model has it negative, as decays with a lower bound need it positive. */
static const float *decay_rates(struct builder *b, size_t n)
{
	const float *a = build_vector(b, "ssm_a", "", n);
	float *negated = b->model->ssm.negative ? build_allocate(b, n * sizeof *negated) : NULL;

	for (size_t i = 0; a && negated && i < n; i++)
		negated[i] = -a[i];
	return negated ? negated : a;
}

/* Scales q and k to length 1, computes the decays, and applies the delta rule. */
static void mix(struct builder *b, const struct row_layout *p)
{
	const struct delta_sizes *d = &p->sizes;
	struct op_linear o = { .n_head = d->heads, .n_head_k = d->heads_k, .runs = !b->model->ssm.tiled,
		.dim_k = d->keys / d->heads_k, .dim_v = d->values / d->heads, .delta = 1,
		.by_key = d->decays > d->heads, .lower_bound = b->model->ssm.lower_bound,
		.q = p->q, .k = p->k, .v = p->v, .d = p->v, .out = p->out,
		.decay = p->decay, .beta = p->beta };

	o.q_norm = unit_norm(b, o.dim_k, 1 / sqrtf((float)o.dim_k));
	o.k_norm = unit_norm(b, o.dim_k, 1);
	o.bias = build_vector(b, "ssm_dt", "bias", d->decays);
	o.a = build_repeated(b, decay_rates(b, d->heads), d->heads, d->decays / d->heads);
	build_linear(b, &o);
}

/* Norms each head, all with the same weights, and applies the gate. */
static struct packed *gated_output(struct builder *b, const struct row_layout *p, enum unary f)
{
	const struct delta_sizes *d = &p->sizes;
	size_t n = d->values / d->heads;
	struct op_rows o = { .n = d->values, .in = p->gate, .out = buffer_with(b->plan->h, d->values), .f = ROW_GLU,
		.unary = f, .norm = build_norm_of(b, "ssm_norm", n), .norms = d->heads, .norm_first = 1 };

	o.norm.weight = build_tiled(b, o.norm.weight, n, d->heads);
	build_mixed(b, p->gate, 2 * o.n);
	build_output(build_packing(b, "ssm_gate", &o, SLOT_BRANCH), 0, "", o.out, o.n);
	return o.packed;
}

/* to[n] = first · x or, if the file has a second matrix, second · (first · x). */
static void low_rank(struct builder *b, struct packed *x, const char *first, const char *second, size_t n,
	const struct row_layout *p, struct buffer to)
{
	size_t rank = p->sizes.rank;

	if (!build_has(b, second)) {
		build_product(b, x, first, WIDE, n, to);
		return;
	}
	build_product(b, x, first, NARROW, rank, p->spare);
	build_product(b, build_pack(b, "low_rank_pack", p->spare, rank, SLOT_BRANCH), second, WIDE, n, to);
}

/* The products of a delta net. ssm_in has rows by key head: q, k, and v and gate of its value heads; ssm_ba likewise
 * has the betas and decays of its value heads. Other files have separate tensors. */
static void project(struct builder *b, struct packed *x, const struct row_layout *p)
{
	const struct delta_sizes *d = &p->sizes;
	size_t keys = d->keys / d->heads_k, values = d->values / d->heads_k, heads = d->heads / d->heads_k;
	size_t all = 2 * (keys + values);
	struct buffer ba = buffer_at(p->spare, d->heads_k * all);
	struct op_product o = { .x = x };

	if (build_has(b, "ssm_in"))
		build_add_product(b, &o, "ssm_in", NARROW, d->heads_k * all, p->spare);
	else {
		build_add_product(b, &o, "attn_qkv", NARROW, 2 * d->keys + d->values, p->q);
		build_add_product(b, &o, "attn_gate", NARROW, d->values, p->gate);
	}
	if (build_has(b, "ssm_ba"))
		build_add_product(b, &o, "ssm_ba", NARROW, 2 * d->heads, ba);
	else {
		build_add_product(b, &o, "ssm_beta", NARROW, d->heads, p->beta);
		if (!d->rank)
			build_add_product(b, &o, "ssm_alpha", NARROW, d->heads, p->decay);
	}
	build_products(b, "ssm_in", &o);
	if (d->rank)
		low_rank(b, x, "ssm_f_a", "ssm_f_b", d->decays, p, p->decay);
	if (build_has(b, "ssm_in"))
		build_deinterleave(b, "ssm_qkvz", p->spare, d->heads_k, 4, (struct interleaved[]){
			{ keys, p->q }, { keys, p->k }, { values, p->v }, { values, p->gate } });
	if (build_has(b, "ssm_ba"))
		build_deinterleave(b, "ssm_ba", ba, d->heads_k, 2, (struct interleaved[]){
			{ heads, p->beta }, { heads, p->decay } });
}

struct packed *build_delta(struct builder *b, struct packed *x)
{
	struct row_layout p = row_layout(b);

	project(b, x, &p);
	build_convolve(b, "ssm_conv1d", p.q, 2 * p.sizes.keys + p.sizes.values);
	mix(b, &p);
	return gated_output(b, &p, b->model->ssm.sigmoid_gates ? UNARY_SIGMOID : UNARY_SILU);
}

/* Like llama.cpp, we ignore biases of q, k and v. */
struct packed *build_kda(struct builder *b, struct packed *x)
{
	static const char *const ignored[] = { "attn_q", "attn_k", "attn_v", "attn_qkv", NULL };
	struct row_layout p = row_layout(b);
	size_t n = p.sizes.keys;
	struct op_product o = { .x = x };

	build_ignore(b, ignored, "bias");
	if (build_has(b, "attn_qkv"))
		build_add_product(b, &o, "attn_qkv", NARROW, 3 * n, p.q);
	else {
		build_add_product(b, &o, "attn_q", NARROW, n, p.q);
		build_add_product(b, &o, "attn_k", NARROW, n, p.k);
		build_add_product(b, &o, "attn_v", NARROW, n, p.v);
	}
	build_add_product(b, &o, "ssm_beta", NARROW, p.sizes.heads, p.beta);
	build_products(b, "attn_qkv", &o);
	low_rank(b, x, "ssm_f_a", "ssm_f_b", p.sizes.decays, &p, p.decay);
	low_rank(b, x, build_has(b, "ssm_g") ? "ssm_g" : "ssm_g_a", "ssm_g_b", n, &p, p.gate);
	build_convolve(b, "ssm_conv1d_q", p.q, n);
	build_convolve(b, "ssm_conv1d_k", p.k, n);
	build_convolve(b, "ssm_conv1d_v", p.v, n);
	mix(b, &p);
	return gated_output(b, &p, UNARY_SIGMOID);
}
