/* The builder: ops appended, tensors found and checked. */
#include "builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/plan/kinds.h"
#include "lib/base/size.h"
#include "families.h"

struct tensor_name {
	char s[96];
};

static struct tensor_name full_name(const struct builder *b, const char *name, const char *suffix)
{
	struct tensor_name n;

	if (b->il == OP_NO_LAYER)
		snprintf(n.s, sizeof n.s, "%s.%s", name, suffix);
	else
		snprintf(n.s, sizeof n.s, "blk.%zu.%s.%s", b->il, name, suffix);
	return n;
}

static void *allocate(struct builder *b, size_t size)
{
	void *p = b->failed ? NULL : plan_memory(b->plan, 1, size);

	if (!p && !b->failed)
		b->failed = why(b->w, "out of memory");
	return p;
}

/* ---- tensors ---- */

static void matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out)
{
	if (!b->failed && model_matrix(b->model, full_name(b, name, "weight").s, rows, cols, out, b->w) < 0)
		b->failed = -1;
}

static const float *vector(struct builder *b, const char *name, const char *suffix, size_t n)
{
	const float *v = NULL;

	if (!b->failed && model_vector(b->model, full_name(b, name, suffix).s, n, &v, b->w) < 0)
		b->failed = -1;
	return v;
}

static const float *bias_of(struct builder *b, const char *name, enum bias bias, size_t n)
{
	if (bias == BIAS_NONE || (bias == BIAS_MAYBE && !model_has(b->model, full_name(b, name, "bias").s)))
		return NULL;
	return vector(b, name, "bias", n);
}

/* The family's kind of norm over n elements. */
static struct norm norm_of(struct builder *b, const char *name, size_t n)
{
	struct norm norm = { .kind = b->model->family->norm, .eps = b->model->eps };

	norm.weight = vector(b, name, "weight", n);
	norm.bias = bias_of(b, name, norm.kind == NORM_LAYER ? BIAS : BIAS_NONE, n);
	return norm;
}

/* ---- ops ---- */

static struct buffer at_column(struct buffer b, size_t column)
{
	b.at += column;
	return b;
}

static struct buffer with_stride(struct buffer b, size_t stride)
{
	b.stride = stride;
	return b;
}

/* A new op at the end of the plan, with a copy of what it is bound to. NULL after a failure. name NULL: the kind's. */
static struct op *append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound,
	size_t size)
{
	struct plan *p = b->plan;
	void *copy = allocate(b, size);
	struct op *more;

	if (copy && p->n_ops == b->room) {
		b->room = 2 * b->room + 64;
		more = realloc(p->op, b->room * sizeof *more);
		if (more)
			p->op = more;
		else
			b->failed = why(b->w, "out of memory");
	}
	if (b->failed)
		return NULL;
	memcpy(copy, bound, size);
	p->op[p->n_ops] = (struct op){ .kind = kind, .bound = copy, .name = name ? name : kind->name, .layer = b->il,
		.wanted = b->wanted };
	return &p->op[p->n_ops++];
}

static void leaves(struct op *op, size_t i, const char *suffix, struct buffer from, size_t cols)
{
	if (op)
		op->output[i] = (struct output){ .suffix = suffix, .from = from, .cols = cols };
}

/* ---- products ---- */

enum precision { NARROW, WIDE };        /* of quantised activations: see acts_kind in kernels.h */

/* One more product of the rows o->x. */
static void add_product(struct builder *b, struct op_product *o, const char *name, enum bias bias,
	enum precision wide, size_t rows, struct buffer y)
{
	if (b->failed)
		return;
	matrix(b, name, rows, o->x->k, &o->w[o->n]);
	o->bias[o->n] = bias_of(b, name, bias, rows);
	if (b->failed)
		return;
	o->kind[o->n] = b->plan->setup.kernels->acts_kind(o->w[o->n].format, wide == WIDE);
	o->x->wants[o->kind[o->n]] = 1;
	o->y[o->n++] = y;
}

/* The results lie side by side from y[0] on. */
static void append_products(struct builder *b, const char *name, const struct op_product *o)
{
	struct op *op = append(b, &op_product, name, o, sizeof *o);
	size_t cols = 0;

	if (!op)
		return;
	for (size_t i = 0; i < o->n; i++)
		cols += o->w[i].rows;
	op->weights = ((const struct op_product *)op->bound)->w;
	op->n_weights = o->n;
	op->scratch = b->plan->setup.kernels->product_scratch(o->x->k);
	leaves(op, 0, "", o->y[0], cols);
}

/* A single one; the op has the tensor's name. */
static void append_product(struct builder *b, struct packed *x, const char *name, enum bias bias, enum precision wide,
	size_t rows, struct buffer y)
{
	struct op_product o = { .x = x };

	add_product(b, &o, name, bias, wide, rows, y);
	append_products(b, name, &o);
}

/* ---- rows ---- */

/* An op over rows that packs its result. */
static struct op *append_packing(struct builder *b, const char *name, struct op_rows *o, enum slot slot)
{
	o->packed = allocate(b, sizeof *o->packed);
	if (!o->packed)
		return NULL;
	*o->packed = (struct packed){ .k = o->n, .slot = slot, .next = b->plan->packed };
	b->plan->packed = o->packed;
	return append(b, &op_rows, name, o, sizeof *o);
}

/* o first adds the branch that is still to be added to x, if there is one; whether there is. */
static int add_pending(struct builder *b, struct op_rows *o)
{
	int pending = b->pending;

	if (pending) {
		o->x = b->plan->x;
		o->branch = b->plan->branch;
	}
	b->pending = 0;
	return pending;
}

/* Adds it now. */
static void add_branch(struct builder *b)
{
	struct op_rows o = { .n = b->model->n_embd, .in = b->plan->x, .out = b->plan->x };

	if (add_pending(b, &o))
		leaves(append(b, &op_rows, "add", &o, sizeof o), 0, "", o.out, o.n);
}

struct packed *build_norm(struct builder *b, const char *name)
{
	size_t n = b->model->n_embd;
	struct op_rows o = { .n = n, .in = b->plan->x, .out = with_stride(b->plan->h, n), .f = ROW_NORM };
	struct op *op;

	add_pending(b, &o);
	o.norm = norm_of(b, name, n);
	op = append_packing(b, name, &o, SLOT_NORMED);
	leaves(op, 0, "", o.out, n);
	leaves(op, 1, ".in", o.in, n);
	return o.packed;
}

/* The activation is made where the product's result lies. */
static struct packed *activate(struct builder *b, enum row_function f, enum unary unary, struct buffer wide)
{
	struct op_rows o = { .n = b->layer->n_ff, .in = wide, .out = wide, .f = f, .unary = unary };

	leaves(append_packing(b, "ffn_act", &o, SLOT_BRANCH), 0, "", o.out, o.n);
	return o.packed;
}

struct packed *build_gated(struct builder *b, struct packed *x, enum unary f)
{
	size_t n_ff = b->layer->n_ff;
	struct buffer wide = with_stride(b->plan->wide, 2 * n_ff);
	struct op_product o = { .x = x };

	add_product(b, &o, "ffn_gate", BIAS_NONE, NARROW, n_ff, wide);
	add_product(b, &o, "ffn_up", BIAS_NONE, NARROW, n_ff, at_column(wide, n_ff));
	append_products(b, "ffn_gate_up", &o);
	return activate(b, ROW_GLU, f, wide);
}

struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f, enum bias bias)
{
	struct buffer wide = with_stride(b->plan->wide, b->layer->n_ff);

	append_product(b, x, "ffn_up", bias, NARROW, b->layer->n_ff, wide);
	return activate(b, ROW_UNARY, f, wide);
}

void build_branch(struct builder *b, struct packed *x, const char *name, enum bias bias)
{
	add_branch(b);
	append_product(b, x, name, bias, NARROW, b->model->n_embd, b->plan->branch);
	b->pending = 1;
}

/* ---- attention ---- */

static struct buffer qkv_of(const struct builder *b)
{
	return with_stride(b->plan->wide, layer_qkv(b->layer));
}

void build_qkv(struct builder *b, struct packed *x, enum bias bias)
{
	const struct layer *l = b->layer;
	size_t q = l->n_head * l->dim_k, k = l->n_head_kv * l->dim_k, v = l->n_head_kv * l->dim_v;
	struct op_product o = { .x = x };

	add_product(b, &o, "attn_q", bias, WIDE, q, qkv_of(b));
	add_product(b, &o, "attn_k", bias, WIDE, k, at_column(qkv_of(b), q));
	add_product(b, &o, "attn_v", bias, WIDE, v, at_column(qkv_of(b), q + k));
	append_products(b, "attn_qkv", &o);
}

void build_qkv_fused(struct builder *b, struct packed *x, enum bias bias)
{
	append_product(b, x, "attn_qkv", bias, WIDE, layer_qkv(b->layer), qkv_of(b));
}

/* The rotations of this spec, whose angles are made before their first use. */
static const struct rope *rope_of(struct builder *b, const struct rope_spec *spec)
{
	struct op_angles o = { .rope = b->plan->ropes };

	while (o.rope && o.rope->spec != spec)
		o.rope = o.rope->next;
	if (o.rope || !(o.rope = allocate(b, sizeof *o.rope)))
		return o.rope;
	*o.rope = (struct rope){ .spec = spec, .next = b->plan->ropes };
	b->plan->ropes = o.rope;
	append(b, &op_angles, NULL, &o, sizeof o);
	return o.rope;
}

struct packed *build_attention(struct builder *b, int head_norms)
{
	const struct layer *l = b->layer;
	const struct kernels *k = b->plan->setup.kernels;
	size_t out = l->n_head * l->dim_v, group = l->n_head / l->n_head_kv;
	struct op_attention o = {
		.qkv = qkv_of(b), .out = with_stride(b->plan->h, out), .layer = b->il - b->plan->setup.first,
		.heads = { .dim_k = l->dim_k, .dim_v = l->dim_v, .n_head = l->n_head, .n_head_kv = l->n_head_kv,
			.scale = 1 / sqrtf((float)l->dim_k) },
		.pairs = b->model->family->pairs, .rope = l->rope ? rope_of(b, l->rope) : NULL,
	};
	struct op_rows pack = { .n = out, .in = o.out, .out = o.out };
	struct op_select select = { .x = b->plan->x, .n = b->model->n_embd };
	struct op *op;

	if (head_norms) {
		o.q_norm = norm_of(b, "attn_q_norm", l->dim_k);
		o.k_norm = norm_of(b, "attn_k_norm", l->dim_k);
	}
	add_branch(b);          /* before the rows of x are moved */
	leaves(append(b, &op_prepare, NULL, &o, sizeof o), 0, "", o.qkv, layer_qkv(l));
	append(b, &op_store, NULL, &o, sizeof o);
	b->wanted = b->il + 1 == b->model->n_layer;     /* behind the last attention no other rows matter */
	op = append(b, &op_attend, NULL, &o, sizeof o);
	if (op) {
		op->scratch = k->attend_scratch(l->dim_k, l->dim_v, group);
		op->block_bytes = l->n_head_kv * k->attend_part(l->dim_v, ATTEND_FEW * group);
	}
	leaves(append(b, &op_join, "attend", &o, sizeof o), 0, "", o.out, out);
	append_packing(b, "attn_pack", &pack, SLOT_BRANCH);
	if (b->wanted)
		append(b, &op_select, NULL, &select, sizeof select);
	return pack.packed;
}

/* ---- all layers ---- */

static void build_embed(struct builder *b)
{
	const struct model *m = b->model;
	struct op_embed e = { .x = b->plan->x, .spare = with_stride(b->plan->h, m->n_embd) };

	matrix(b, "token_embd", m->n_vocab, m->n_embd, &e.ids);
	if (m->family->learned_positions)
		matrix(b, "position_embd", m->n_ctx_max, m->n_embd, &e.positions);
	leaves(append(b, &op_embed, NULL, &e, sizeof e), 0, "", e.x, m->n_embd);
}

/* output_norm and output, or token_embd again where the file has no output. */
static void build_head(struct builder *b)
{
	struct op_product o = { .x = build_norm(b, "output_norm") };
	const char *tensor = model_has(b->model, "output.weight") ? "output" : "token_embd";

	add_product(b, &o, tensor, BIAS_NONE, NARROW, b->model->n_vocab, (struct buffer){ .at = NULL });
	append_products(b, "output", &o);
}

int build_plan(struct plan *p, struct why *w)
{
	struct builder b = { .plan = p, .model = p->model, .w = w, .il = OP_NO_LAYER };

	if (p->setup.first == 0)
		build_embed(&b);
	for (b.il = p->setup.first; b.il < p->setup.last; b.il++) {
		b.layer = &p->model->layer[b.il];
		p->model->family->layer(&b, b.il);
	}
	b.il = OP_NO_LAYER;
	/* The last branch is added once; the head may then run over the rows in any portions. */
	add_branch(&b);
	p->n_body = p->n_ops;
	if (p->setup.last == p->model->n_layer)
		build_head(&b);
	return b.failed;
}
