/* head_rows: packs rows for products that have a separate matrix for each head. A work item is up to acts_columns rows
 * of one head. */
#include "kinds.h"

#include "lib/base/size.h"

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_head_rows *o = op->bound;

	for (int kind = 0; kind < ACTS_KINDS; kind++)
		for (size_t h = 0, at = 0; h < o->heads && o->packed->wants[kind]; h++)
			at = packed_place(o->packed, s->k, h, s->n, kind, at);
	return o->heads * size_divide_up(s->n, s->k->acts_columns);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_head_rows *o = op->bound;
	size_t head = item % o->heads, from = item / o->heads * s->k->acts_columns;
	size_t to = size_min(from + s->k->acts_columns, s->n);

	for (int kind = 0; kind < ACTS_KINDS; kind++)
		if (o->packed->wants[kind])
			s->k->acts_pack(&o->packed->by_expert[kind][head],
				buffer_row(&o->in, s->first + from) + head * o->step, o->in.stride,
				(struct acts_part){ from, to, 0, o->n });
}

static void uses(void *bound, struct uses *u)
{
	struct op_head_rows *o = bound;

	u->rows(u, &o->in, (o->heads - 1) * o->step + o->n, USE_READ);
	u->packed(u, &o->packed, NULL, USE_MAKE);
}

const struct op_kind op_head_rows = { .name = "head_rows", .uses = uses, .items = items, .item = item };
