/* select: moves the wanted rows of each run to the front, where all ops after the last attention expect them. If every
 * row is wanted, as in decoding, it does nothing. */
#include "kinds.h"

#include <string.h>

static size_t items(const struct op *op, const struct step *s)
{
	const struct run *last = s->run + s->n_runs - 1;

	return last->first + last->n > last->first_wanted + last->wanted;
}

static void move(const struct op_select *o, size_t to, size_t from)
{
	for (size_t i = 0; i < o->buffers; i++)
		memmove(buffer_row(&o->x[i], to), buffer_row(&o->x[i], from), o->n[i] * sizeof(float));
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		size_t from = r->first + r->n - r->after - r->wanted;

		for (size_t i = 0; i < r->wanted; i++)
			move(op->bound, r->first_wanted + i, from + i);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_select *o = bound;

	for (size_t i = 0; i < o->buffers; i++)
		u->rows(u, &o->x[i], o->n[i], USE_CHANGE);
}

const struct op_kind op_select = { .name = "select", .uses = uses, .items = items, .item = item };
