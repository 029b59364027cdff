/* per_layer: the per-layer inputs, computed from each row's id and embedding. A work item is a row. */
#include "kinds.h"

static void item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_per_layer *o = op->bound;
	const struct kernels *k = s->k;
	float *p = buffer_row(&o->p, row), *of_id = buffer_row(&o->spare, row);
	size_t all = o->layers * o->n;

	format_dequantise(o->ids.format, (const unsigned char *)o->ids.data + (size_t)s->ids[row] * o->ids.row_bytes,
		of_id, all);
	k->scale(p, p, 1 / o->root, all);
	for (size_t at = 0; at < all; at += o->n)
		k->norm(&o->norm, p + at, p + at, o->n);
	k->add_scaled(p, of_id, o->scale, all);
	k->scale(p, p, 0x1.6a09e6p-1f, all);
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_per_layer *o = op->bound;

	w->bytes += (double)s->n * (double)o->ids.row_bytes;
}

static void uses(void *bound, struct uses *u)
{
	struct op_per_layer *o = bound;

	u->rows(u, &o->p, o->layers * o->n, USE_CHANGE);
	u->rows(u, &o->spare, o->layers * o->n, USE_MAKE);
}

const struct op_kind op_per_layer = { .name = "per_layer", .uses = uses, .all_rows = 1, .items = op_each_row,
	.item = item, .work = work };
