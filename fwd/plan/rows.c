/* rows: residual sums, norms, activations and packing. A work item is the rows that are packed together. */
#include "kinds.h"

#include <string.h>

#include "lib/base/size.h"

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_rows *o = op->bound;

	for (size_t kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		o->packed->acts[kind].n = s->n;
	return size_divide_up(s->n, s->k->acts_columns);
}

static void add_branch(const struct op_rows *o, const struct kernels *k, float *x, float *branch)
{
	if (o->branch_norm.kind)
		k->norm(&o->branch_norm, branch, branch, o->n);
	if (o->scale < 1 || o->scale > 1)
		k->add_scaled(x, branch, o->scale, o->n);
	else
		k->add(x, x, branch, o->n);
	if (o->x_scale < 0 || o->x_scale > 0)
		k->scale(x, x, o->x_scale, o->n);
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

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_rows *o = op->bound;
	const struct kernels *k = s->k;
	size_t from = item * k->acts_columns, to = size_min(from + k->acts_columns, s->n);

	for (size_t i = s->first + from; i < s->first + to; i++) {
		float *x = buffer_row(&o->x, i), *in = buffer_row(&o->in, i), *out = buffer_row(&o->out, i);
		float *up = o->up.at ? buffer_row(&o->up, i) : in + o->n;

		if (o->norm_first)
			norm_row(o, k, up, up);
		if (o->branch.at)
			add_branch(o, k, x, buffer_row(&o->branch, i));
		if (o->f == ROW_UNARY)
			k->unary(o->unary, out, in, o->n);
		else if (o->f == ROW_GLU)
			rows_glu(k, o->unary, o->limit, out, in, up, o->n);
		else if (o->f == ROW_GATES)
			apply_gates(o, k, out, in, up);
		else if (o->f == ROW_XIELU)
			k->xielu(&o->xielu, out, in, o->n);
		else if (o->f == ROW_CLAMP)
			k->clamp(out, o->most, o->n);
		else if (o->f == ROW_SPARSE)
			k->sparsify(out, o->most, o->n);
		else if (o->f == ROW_TANH)
			k->cap(out, 1, o->n);
		if (o->norm.kind && !o->norm_first)
			norm_row(o, k, o->f == ROW_SAME ? in : out, out);
	}
	for (size_t kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		if (o->packed->wants[kind])
			k->acts_pack(&o->packed->acts[kind], buffer_row(&o->out, s->first + from), o->out.stride, from,
				to);
}

const struct op_kind op_rows = { .name = "rows", .items = items, .item = item };
