/* The builder: ops appended, tensors found and checked. */
#include "builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

struct name {
	char s[96];
};

static struct name full_name(const struct builder *b, const char *name, const char *suffix)
{
	struct name n;

	if (b->layer == LABEL_NONE)
		snprintf(n.s, sizeof n.s, "%s.%s", name, suffix);
	else
		snprintf(n.s, sizeof n.s, "blk.%zu.%s.%s", b->layer, name, suffix);
	return n;
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

/* ---- ops ---- */

/* A new op at the end of the plan. It is the caller's to fill until the next one; after a failure it goes nowhere. */
static struct op *append(struct builder *b, enum op_code code, const char *label)
{
	static struct op nowhere;
	struct plan *p = b->plan;
	size_t room = 2 * b->room + 64;
	struct label *labels;
	struct op *ops;

	if (!b->failed && p->n_ops == b->room) {
		ops = realloc(p->op, room * sizeof *ops);
		if (ops)
			p->op = ops;
		labels = realloc(p->label, room * sizeof *labels);
		if (labels)
			p->label = labels;
		b->room = room;
		if (!ops || !labels)
			b->failed = why(b->w, "out of memory");
	}
	if (b->failed)
		return &nowhere;
	p->label[p->n_ops] = (struct label){ .name = label, .layer = b->layer };
	p->op[p->n_ops] = (struct op){ .code = code, .tail = b->tail };
	return &p->op[p->n_ops++];
}

enum precision { NARROW, WIDE };        /* of quantised activations: see acts_kind in kernels.h */

/* One more product of the rows packed last. */
static void add_part(struct builder *b, struct op_product *o, const char *name, enum bias bias, enum precision wide, size_t rows, struct buffer y)
{
	struct part *part = &o->part[o->n_parts];
	struct op_rows *from;

	if (b->failed)
		return;
	from = &b->plan->op[b->packed].rows;
	matrix(b, name, rows, from->n, &part->w);
	part->bias = bias_of(b, name, bias, rows);
	if (b->failed)
		return;
	part->kind = b->plan->step.k->acts_kind(part->w.format, wide == WIDE);
	part->y = y;
	from->pack[part->kind] = 1;
	o->n_parts++;
}

static struct op_product *product(struct builder *b, const char *label)
{
	struct op *op = append(b, OP_PRODUCT, label);

	memset(&op->product, 0, sizeof op->product);
	return &op->product;
}

/* An op over rows that packs n elements of `out` for the next products. */
static struct op_rows *packing(struct builder *b, const char *label, size_t n, struct buffer in, struct buffer out)
{
	struct op *op = append(b, OP_ROWS, label);

	op->rows = (struct op_rows){ .n = n, .in = in, .out = out };
	if (!b->failed)
		b->packed = b->plan->n_ops - 1;
	return &op->rows;
}

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

/* ---- the words ---- */

void build_embed(struct builder *b)
{
	struct op_embed *e = &append(b, OP_EMBED, "embed")->embed;
	const struct model *m = b->model;

	*e = (struct op_embed){ .x = b->plan->x, .spare = with_stride(b->plan->h, m->n_embd) };
	matrix(b, "token_embd", m->n_vocab, m->n_embd, &e->ids);
	if (m->family->learned_positions)
		matrix(b, "position_embd", m->n_ctx_max, m->n_embd, &e->positions);
}

void build_layer(struct builder *b, size_t il)
{
	b->layer = il;
}

static void add_pending(struct builder *b, struct op_rows *o)
{
	if (b->pending) {
		o->x = b->plan->x;
		o->branch = b->plan->branch;
	}
	b->pending = 0;
}

void build_norm(struct builder *b, const char *name)
{
	const struct model *m = b->model;
	struct op_rows *o = packing(b, name, m->n_embd, b->plan->x, with_stride(b->plan->h, m->n_embd));

	add_pending(b, o);
	o->f = ROWS_NORM;
	o->norm = m->family->norm;
	o->eps = m->eps;
	o->weight = vector(b, name, "weight", m->n_embd);
	o->bias = bias_of(b, name, o->norm == NORM_LAYER ? BIAS : BIAS_NONE, m->n_embd);
}

static size_t qkv_rows(const struct model *m, size_t *q, size_t *k, size_t *v)
{
	*q = m->n_head * m->dim_k;
	*k = m->n_head_kv * m->dim_k;
	*v = m->n_head_kv * m->dim_v;
	return *q + *k + *v;
}

void build_qkv(struct builder *b, enum bias bias)
{
	size_t q, k, v, all = qkv_rows(b->model, &q, &k, &v);
	struct buffer y = with_stride(b->plan->wide, all);
	struct op_product *o = product(b, "attn_qkv");

	add_part(b, o, "attn_q", bias, WIDE, q, y);
	add_part(b, o, "attn_k", bias, WIDE, k, at_column(y, q));
	add_part(b, o, "attn_v", bias, WIDE, v, at_column(y, q + k));
}

void build_qkv_fused(struct builder *b, enum bias bias)
{
	size_t q, k, v, all = qkv_rows(b->model, &q, &k, &v);

	add_part(b, product(b, "attn_qkv"), "attn_qkv", bias, WIDE, all, with_stride(b->plan->wide, all));
}

void build_attend(struct builder *b, int head_norms)
{
	const struct model *m = b->model;
	struct plan *p = b->plan;
	size_t q, k, v, all = qkv_rows(m, &q, &k, &v), out = m->n_head * m->dim_v;
	struct op *op = append(b, OP_ATTEND, "attend");
	struct op_attend *a = &op->attend;

	*a = (struct op_attend){
		.qkv = with_stride(p->wide, all), .out = with_stride(p->h, out), .eps = m->eps, .pairs = m->family->pairs, .n_rot = m->rope.n_rot,
		.rope = m->rope.n_rot ? &p->rope : NULL, .tail = b->layer + 1 == m->n_layer,
		.heads = { .dim_k = m->dim_k, .dim_v = m->dim_v, .n_head = m->n_head, .n_head_kv = m->n_head_kv,
			.scale = 1 / sqrtf((float)m->dim_k) },
	};
	if (head_norms) {
		a->q_norm = vector(b, "attn_q_norm", "weight", m->dim_k);
		a->k_norm = vector(b, "attn_k_norm", "weight", m->dim_k);
	}
	b->tail = a->tail;
	packing(b, "attn_pack", out, with_stride(p->h, out), with_stride(p->h, out));
}

void build_branch(struct builder *b, const char *name, enum bias bias)
{
	add_part(b, product(b, name), name, bias, NARROW, b->model->n_embd, b->plan->branch);
	b->pending = 1;
}

/* The activation is made where the product's result lies. */
static void activate(struct builder *b, enum rows_function f, enum unary unary, struct buffer wide)
{
	struct op_rows *o = packing(b, "ffn_act", b->model->n_ff, wide, wide);

	o->f = f;
	o->unary = unary;
}

void build_gated(struct builder *b, enum unary f)
{
	size_t n_ff = b->model->n_ff;
	struct buffer wide = with_stride(b->plan->wide, 2 * n_ff);
	struct op_product *o = product(b, "ffn_gate_up");

	add_part(b, o, "ffn_gate", BIAS_NONE, NARROW, n_ff, wide);
	add_part(b, o, "ffn_up", BIAS_NONE, NARROW, n_ff, at_column(wide, n_ff));
	activate(b, ROWS_GLU, f, wide);
}

void build_ungated(struct builder *b, enum unary f, enum bias bias)
{
	struct buffer wide = with_stride(b->plan->wide, b->model->n_ff);

	add_part(b, product(b, "ffn_up"), "ffn_up", bias, NARROW, b->model->n_ff, wide);
	activate(b, ROWS_UNARY, f, wide);
}

void build_head(struct builder *b)
{
	struct buffer nowhere = { .at = NULL };
	struct op_rows *o;

	b->layer = LABEL_NONE;
	/* The last branch is added once; the head may then run over the rows in any portions. */
	o = &append(b, OP_ROWS, "add")->rows;
	*o = (struct op_rows){ .n = b->model->n_embd, .in = b->plan->x, .out = b->plan->x };
	add_pending(b, o);
	b->plan->n_body = b->plan->n_ops;
	build_norm(b, "output_norm");
	add_part(b, product(b, "output"), model_has(b->model, "output.weight") ? "output" : "token_embd", BIAS_NONE, NARROW, b->model->n_vocab, nowhere);
}
