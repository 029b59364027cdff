/* Gated delta nets (Yang et al. 2024) and Kimi delta attention (Moonshot 2025): linear attention whose q, k and v go
 * through convolutions; q and k are scaled to length 1; the result is normed head by head and gated. */
#include "delta.h"

#include <math.h>

#include "convolution.h"
#include "fwd/model/keys.h"
#include "fwd/state/segment.h"
#include "linear.h"
#include "ssm.h"

struct delta *delta_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct delta));
}

static int read_kda(struct model *m, struct why *w)
{
	struct delta *d = delta_of(m);

	return key_required(m, "ssm.conv_kernel", 1, STATE_CHUNK, &d->taps, w) < 0
		|| key_required(m, "kda.head_dim", 1, SSM_STATE_MAX, &d->head_dim, w) < 0 ? -1 : 0;
}

static int read_delta(struct model *m, struct why *w)
{
	if (ssm_read_heads(m, 1, w) < 0)
		return -1;
	delta_of(m)->taps = ssm_of(m)->taps;
	return 0;
}

/* values, keys: elements of all heads together; heads, heads_k: number of heads; decays: number of decays in a row. */
struct delta_sizes {
	size_t values, keys, heads, heads_k, decays;
	size_t rank;                    /* of the low-rank products that make decays by key, and gates; 0: none */
};

static struct delta_sizes sizes_of(struct builder *b)
{
	const struct delta *d = delta_of(b->model);
	const struct ssm *s = ssm_of(b->model);
	size_t heads = b->layer->n_head, all = heads * d->head_dim;

	if (d->head_dim)
		return (struct delta_sizes){ .values = all, .keys = all, .heads = heads, .heads_k = heads,
			.decays = all, .rank = d->head_dim };
	return (struct delta_sizes){ .values = s->inner, .keys = s->groups * s->state, .heads = s->rank,
		.heads_k = s->groups, .decays = d->decay_rank ? s->rank * s->state : s->rank, .rank = d->decay_rank };
}

/* What the products make of a row. */
struct parts {
	struct delta_sizes sizes;
	struct value *qkv, *q, *k, *v;  /* qkv: all three side by side */
	struct value *gate, *decay, *beta;
};

static struct parts open_parts(struct builder *b)
{
	struct parts p = { .sizes = sizes_of(b) };
	const struct delta_sizes *d = &p.sizes;

	p.qkv = build_value(b, 2 * d->keys + d->values);
	p.q = build_part(b, p.qkv, 0, d->keys);
	p.k = build_part(b, p.qkv, d->keys, d->keys);
	p.v = build_part(b, p.qkv, 2 * d->keys, d->values);
	p.gate = build_value(b, d->values);
	p.decay = build_value(b, d->decays);
	p.beta = build_value(b, d->heads);
	return p;
}

/* Scales n elements to `length`: x · length / √(Σx² + eps), expressed as an RMS norm. */
static struct norm unit_norm(struct builder *b, size_t n, float length)
{
	float *weight = build_allocate(b, n * sizeof *weight);

	for (size_t i = 0; weight && i < n; i++)
		weight[i] = length / sqrtf((float)n);
	return (struct norm){ .kind = NORM_RMS, .weight = weight,
		.eps = (delta_of(b->model)->eps > 0 ? delta_of(b->model)->eps : b->model->eps) / (float)n };
}

/* ssm_a; negated if the model has it negative, as decays with a lower bound need it positive. */
static const float *decay_rates(struct builder *b, size_t n)
{
	const float *a = build_vector(b, "ssm_a", "", n);
	float *negated = delta_of(b->model)->negative ? build_allocate(b, n * sizeof *negated) : NULL;

	for (size_t i = 0; a && negated && i < n; i++)
		negated[i] = -a[i];
	return negated ? negated : a;
}

/* Scales q and k to length 1, computes the decays, and applies the delta rule. */
static struct value *mix(struct builder *b, const struct parts *p)
{
	const struct delta_sizes *d = &p->sizes;
	struct value *out = build_value(b, d->values);
	struct op_linear o = { .n_head = d->heads, .n_head_k = d->heads_k, .consecutive = !delta_of(b->model)->tiled,
		.dim_k = d->keys / d->heads_k, .dim_v = d->values / d->heads, .delta = 1,
		.by_key = d->decays > d->heads, .lower_bound = delta_of(b->model)->lower_bound,
		.q = rows_of(p->q), .k = rows_of(p->k), .v = rows_of(p->v), .d = rows_of(p->v),
		.decay = rows_of(p->decay), .beta = rows_of(p->beta) };

	o.q_norm = unit_norm(b, o.dim_k, 1 / sqrtf((float)o.dim_k));
	o.k_norm = unit_norm(b, o.dim_k, 1);
	o.bias = build_vector(b, "ssm_dt", "bias", d->decays);
	o.a = build_repeated(b, decay_rates(b, d->heads), d->heads, d->decays / d->heads);
	linear_build(b, &o, out);
	return out;
}

/* Norms each head, all with the same weights, and applies the gate. */
static struct value *gated_output(struct builder *b, const struct parts *p, struct value *x, enum unary f)
{
	const struct delta_sizes *d = &p->sizes;
	size_t n = d->values / d->heads;
	struct op_rows o = { .up = rows_of(x), .f = ROW_GLU, .unary = f, .norm = build_norm_of(b, "ssm_norm", n),
		.norms = d->heads, .norm_first = 1 };

	o.norm.weight = build_tiled(b, o.norm.weight, n, d->heads);
	return build_rows_shown(b, "ssm_gate", o, p->gate, build_value(b, d->values));
}

/* to = first · x or, if the file has a second matrix, second · (first · x). */
static void low_rank(struct builder *b, struct value *x, const char *first, const char *second, size_t rank,
	struct value *to)
{
	if (build_has(b, second))
		build_product_into(b, build_product(b, x, first, NARROW, rank), second, WIDE, to);
	else
		build_product_into(b, x, first, WIDE, to);
}

/* The products of a delta net. ssm_in has rows by key head: q, k, and v and gate of its value heads; ssm_ba likewise
 * has the betas and decays of its value heads. Other files have separate tensors. */
static void project(struct builder *b, struct value *x, const struct parts *p)
{
	const struct delta_sizes *d = &p->sizes;
	struct value *qkvz = build_value(b, 2 * (d->keys + d->values)), *ba = build_value(b, 2 * d->heads);
	struct op_product o = build_products_of(b, x);

	if (build_has(b, "ssm_in"))
		build_add_product(b, &o, "ssm_in", NARROW, qkvz);
	else {
		build_add_product(b, &o, "attn_qkv", NARROW, p->qkv);
		build_add_product(b, &o, "attn_gate", NARROW, p->gate);
	}
	if (build_has(b, "ssm_ba"))
		build_add_product(b, &o, "ssm_ba", NARROW, ba);
	else {
		build_add_product(b, &o, "ssm_beta", NARROW, p->beta);
		if (!d->rank)
			build_add_product(b, &o, "ssm_alpha", NARROW, p->decay);
	}
	build_products(b, "ssm_in", &o);
	if (d->rank)
		low_rank(b, x, "ssm_f_a", "ssm_f_b", d->rank, p->decay);
	if (build_has(b, "ssm_in"))
		build_deinterleave(b, "ssm_qkvz", qkvz, d->heads_k, 4, (struct value *[]){ p->q, p->k, p->v, p->gate });
	if (build_has(b, "ssm_ba"))
		build_deinterleave(b, "ssm_ba", ba, d->heads_k, 2, (struct value *[]){ p->beta, p->decay });
}

/* q, k and v as parts of the row that has all of them. */
static void take_parts(struct builder *b, struct parts *p, struct value *qkv)
{
	const struct delta_sizes *d = &p->sizes;

	p->q = build_part(b, qkv, 0, d->keys);
	p->k = build_part(b, qkv, d->keys, d->keys);
	p->v = build_part(b, qkv, 2 * d->keys, d->values);
}

static struct value *build_delta(struct builder *b, struct value *x)
{
	const struct delta *d = delta_of(b->model);
	struct parts p = open_parts(b);

	project(b, x, &p);
	take_parts(b, &p, convolve(b, "ssm_conv1d", build_columns(b, p.qkv, 0, p.qkv->n), d->taps, 1));
	x = gated_output(b, &p, mix(b, &p), d->sigmoid_gates ? UNARY_SIGMOID : UNARY_SILU);
	return build_branch(b, x, "ssm_out");
}

/* Like llama.cpp, we ignore biases of q, k and v. */
static struct value *build_kda(struct builder *b, struct value *x)
{
	static const char *const ignored[] = { "attn_q", "attn_k", "attn_v", "attn_qkv", NULL };
	size_t taps = delta_of(b->model)->taps;
	struct parts p = open_parts(b);
	struct op_product o = build_products_of(b, x);

	build_ignore(b, ignored, "bias");
	if (build_has(b, "attn_qkv"))
		build_add_product(b, &o, "attn_qkv", NARROW, p.qkv);
	else {
		build_add_product(b, &o, "attn_q", NARROW, p.q);
		build_add_product(b, &o, "attn_k", NARROW, p.k);
		build_add_product(b, &o, "attn_v", NARROW, p.v);
	}
	build_add_product(b, &o, "ssm_beta", NARROW, p.beta);
	build_products(b, "attn_qkv", &o);
	low_rank(b, x, "ssm_f_a", "ssm_f_b", p.sizes.rank, p.decay);
	low_rank(b, x, build_has(b, "ssm_g") ? "ssm_g" : "ssm_g_a", "ssm_g_b", p.sizes.rank, p.gate);
	take_parts(b, &p, build_columns(b, p.qkv, 0, p.qkv->n));
	p.q = convolve(b, "ssm_conv1d_q", p.q, taps, 1);
	p.k = convolve(b, "ssm_conv1d_k", p.k, taps, 1);
	p.v = convolve(b, "ssm_conv1d_v", p.v, taps, 1);
	return build_branch(b, gated_output(b, &p, mix(b, &p), UNARY_SIGMOID), "attn_output");
}

const struct mixer mixer_delta = { .read = read_delta, .build = build_delta };
const struct mixer mixer_kda = { .read = read_kda, .build = build_kda };
