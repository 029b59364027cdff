/* rows: residual sums, norms, activations and packing. A work item is the rows that are packed together, or some of
 * their elements. */
#include "kinds.h"

#include <string.h>

#include "lib/base/size.h"

/* How the work is divided. rows: of a work item; parts: work items that share the same rows; elements: of a part, but
 * for the last. */
struct division {
	size_t rows, parts, elements;
};

/* Whether an element of the result depends on no other element of its row. */
static int by_element(const struct op_rows *o)
{
	return !o->norm.kind && !(o->branch.at && o->branch_norm.kind) && o->f != ROW_GATES && o->f != ROW_SPARSE
		&& o->f != ROW_SOFTMAX;
}

/* Rows are divided into parts only if there are too few for the threads, as when one token is decoded; not in two if
 * the second is less than half the first, as the barrier costs more than it saves (rows of 576 with two threads: a
 * llama of 135 M is 1.02 times as fast undivided). */
static struct division divide(const struct op_rows *o, const struct step *s)
{
	struct division d = { .rows = 1, .parts = 1, .elements = o->n };
	size_t groups, parts = (o->n + ACTS_PART / 2) / ACTS_PART;

	for (int kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		if (o->packed->wants[kind])
			d.rows = size_max(d.rows, s->k->acts_together(kind, o->n, s->n));
	groups = size_divide_up(s->n, d.rows);
	if (s->threads > 1 && by_element(o) && parts > 1 && groups < 2 * s->threads) {
		d.elements = size_divide_up(parts, size_divide_up(2 * s->threads, groups)) * ACTS_PART;
		d.parts = size_divide_up(o->n, d.elements);
	}
	return d;
}

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_rows *o = op->bound;
	struct division d = divide(o, s);

	for (size_t kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		o->packed->acts[kind].n = s->n;
	return size_divide_up(s->n, d.rows) * d.parts;
}

static void add_branch(const struct op_rows *o, const struct kernels *k, float *x, float *branch, size_t n)
{
	if (o->branch_norm.kind)
		k->norm(&o->branch_norm, branch, branch, n);
	if (o->scale < 1 || o->scale > 1)
		k->add_scaled(x, branch, o->scale, n);
	else
		k->add(x, x, branch, n);
	if (o->x_scale < 0 || o->x_scale > 0)
		k->scale(x, x, o->x_scale, n);
}

/* Norms the whole row, or each part of it with its own weights. */
static void norm_row(const struct op_rows *o, const struct kernels *k, const float *in, float *out)
{
	struct norm norm = o->norm;
	size_t n = o->n / size_max(o->norms, 1);

	for (size_t at = 0; at < o->n; at += n) {
		k->norm(&norm, in + at, out + at, n);
		norm.weight = norm.weight ? norm.weight + n : NULL;
	}
}

/* y = cap(gate) · sigmoid(gate) · cap(up), with separate soft limits for gate and up. */
static void soft_glu(const struct kernels *k, struct glu_limit limit, float *y, const float *gate, float *up, size_t n)
{
	if (limit.soft_up > 0)
		k->cap(up, limit.soft_up, n);
	k->glu(UNARY_SIGMOID, up, gate, up, n);
	memmove(y, gate, n * sizeof *y);
	k->cap(y, limit.soft_gate, n);
	k->multiply(y, y, up, n);
}

void rows_glu(const struct kernels *k, enum unary f, struct glu_limit limit, float *y, const float *gate, float *up,
	size_t n)
{
	if (limit.soft_gate > 0) {
		soft_glu(k, limit, y, gate, up, n);
		return;
	}
	if (limit.act <= 0) {
		k->glu(f, y, gate, up, n);
		return;
	}
	k->clamp(up, limit.up, n);
	k->unary(f, y, gate, n);
	k->clamp(y, limit.act, n);
	k->multiply(y, y, up, n);
}

static void apply_gates(const struct op_rows *o, const struct kernels *k, float *out, float *gate, const float *x)
{
	size_t n = o->n / o->gates;

	k->unary(o->unary, gate, gate, o->gates);
	for (size_t i = 0; i < o->gates; i++)
		k->scale(out + i * n, x + i * n, gate[i], n);
}

/* A row from element e on; NULL if the buffer is not set. */
static float *part_of(const struct buffer *b, size_t row, size_t e)
{
	return b->at ? buffer_row(b, row) + e : NULL;
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_rows *o = op->bound;
	const struct kernels *k = s->k;
	struct division d = divide(o, s);
	struct acts_part p = { .c0 = item / d.parts * d.rows, .e0 = item % d.parts * d.elements };
	size_t n;

	p.c1 = size_min(p.c0 + d.rows, s->n);
	p.e1 = size_min(p.e0 + d.elements, o->n);
	n = p.e1 - p.e0;
	for (size_t i = s->first + p.c0; i < s->first + p.c1; i++) {
		float *in = part_of(&o->in, i, p.e0), *out = part_of(&o->out, i, p.e0);
		float *up = o->up.at || o->f != ROW_GLU ? part_of(&o->up, i, p.e0) : in + o->n;

		if (o->norm_first)
			norm_row(o, k, up, up);
		if (o->branch.at)
			add_branch(o, k, part_of(&o->x, i, p.e0), part_of(&o->branch, i, p.e0), n);
		if (o->f == ROW_UNARY)
			k->unary(o->unary, out, in, n);
		else if (o->f == ROW_GLU)
			rows_glu(k, o->unary, o->limit, out, in, up, n);
		else if (o->f == ROW_GATES)
			apply_gates(o, k, out, in, up);
		else if (o->f == ROW_XIELU)
			k->xielu(&o->xielu, out, in, n);
		else if (o->f == ROW_CLAMP)
			k->clamp(out, o->most, n);
		else if (o->f == ROW_SPARSE)
			k->sparsify(out, o->most, n);
		else if (o->f == ROW_TANH)
			k->cap(out, 1, n);
		else if (o->f == ROW_SOFTMAX)
			op_softmax(out, n);
		if (o->norm.kind && !o->norm_first)
			norm_row(o, k, o->f == ROW_SAME ? in : out, out);
	}
	for (size_t kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		if (o->packed->wants[kind])
			k->acts_pack(&o->packed->acts[kind], buffer_row(&o->out, s->first + p.c0), o->out.stride, p);
}

/* The gate's elements of GLU precede those of `up`, unless these are elsewhere. Rows that are only packed stay what
 * they are. */
static void uses(void *bound, struct uses *u)
{
	struct op_rows *o = bound;
	int both = o->f == ROW_GLU && !o->up.value && !o->up.at;

	u->packed(u, &o->packed, &o->out, USE_MAKE);
	u->rows(u, &o->x, o->n, USE_CHANGE);
	u->rows(u, &o->branch, o->n, o->branch_norm.kind ? USE_SPOIL : USE_READ);
	u->rows(u, &o->in, both ? 2 * o->n : o->f == ROW_GATES ? o->gates : o->n,
		both || o->f == ROW_GATES ? USE_SPOIL : USE_READ);
	u->rows(u, &o->up, o->n, o->f == ROW_GATES ? USE_READ : USE_SPOIL);
	if (o->out.value != o->in.value || o->f || o->norm.kind)
		u->rows(u, &o->out, o->n, USE_MAKE);
	else
		u->rows(u, &o->out, o->n, USE_READ);
}

const struct op_kind op_rows = { .name = "rows", .uses = uses, .items = items, .item = item };
