/* rows: residual sums, norms, activations and packing. A piece is as many rows as are packed together. */
#include "kinds.h"

#include "lib/base/size.h"

static size_t pieces(const struct op *op, const struct step *s)
{
	const struct op_rows *o = op->bound;

	for (size_t kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		o->packed->acts[kind].n = s->n;
	return op_pieces(s->n, s->k->acts_columns);
}

static void piece(const struct op *op, const struct step *s, size_t piece, size_t thread)
{
	const struct op_rows *o = op->bound;
	const struct kernels *k = s->k;
	size_t from = piece * k->acts_columns, to = size_min(from + k->acts_columns, s->n);

	for (size_t i = s->first + from; i < s->first + to; i++) {
		float *x = buffer_row(&o->x, i), *in = buffer_row(&o->in, i), *out = buffer_row(&o->out, i);

		if (o->branch.at)
			k->add(x, x, buffer_row(&o->branch, i), o->n);
		if (o->f == ROW_NORM)
			k->norm(&o->norm, in, out, o->n);
		else if (o->f == ROW_UNARY)
			k->unary(o->unary, out, in, o->n);
		else if (o->f == ROW_GLU)
			k->glu(o->unary, out, in, in + o->n, o->n);
	}
	for (size_t kind = 0; o->packed && kind < ACTS_KINDS; kind++)
		if (o->packed->wants[kind])
			k->acts_pack(&o->packed->acts[kind], buffer_row(&o->out, s->first), o->out.stride, from, to);
}

const struct op_kind op_rows = { .name = "rows", .pieces = pieces, .piece = piece };
