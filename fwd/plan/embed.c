/* embed: looks up the embeddings of ids. */
#include "kinds.h"

static void dequantise_row(const struct matrix *m, size_t row, float *to)
{
	format_dequantise(m->format, (const unsigned char *)m->data + row * m->row_bytes, to, m->cols);
}

static void item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_embed *e = op->bound;
	float *x = buffer_row(&e->x, row), *spare = buffer_row(&e->spare, row);
	int32_t id = s->ids[row];

	dequantise_row(&e->ids, (size_t)(e->substitute ? e->substitute[id] : id), x);
	if (e->scale < 1 || e->scale > 1)
		s->k->scale(x, x, e->scale, e->ids.cols);
	if (!e->positions.rows)
		return;
	dequantise_row(&e->positions, s->pos[row], spare);
	s->k->add(x, x, spare, e->ids.cols);
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_embed *e = op->bound;

	w->bytes += (double)s->n * (double)(e->ids.row_bytes + (e->positions.rows ? e->positions.row_bytes : 0));
}

static void uses(void *bound, struct uses *u)
{
	struct op_embed *o = bound;

	u->rows(u, &o->x, o->ids.cols, USE_MAKE);
	u->rows(u, &o->spare, o->ids.cols, USE_MAKE);
}

const struct op_kind op_embed = { .name = "embed", .uses = uses, .all_rows = 1, .items = op_each_row, .item = item,
	.work = work };
