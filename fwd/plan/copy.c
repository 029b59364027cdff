/* copy: moves elements of rows to where another op expects them. A work item is a row. */
#include "kinds.h"

#include <string.h>

static void item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_copy *o = op->bound;

	for (const struct copy *c = o->copy; c < o->copy + o->copies; c++) {
		const float *from = buffer_row(&c->from, row);
		float *to = buffer_row(&c->to, row);

		for (size_t h = 0; h < c->heads; h++)
			memcpy(to + h * c->to_step, from + h * c->from_step, c->n * sizeof *to);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_copy *o = bound;

	for (struct copy *c = o->copy; c < o->copy + o->copies; c++) {
		u->rows(u, &c->from, (c->heads - 1) * c->from_step + c->n, USE_READ);
		u->rows(u, &c->to, (c->heads - 1) * c->to_step + c->n, c->to_step > c->n ? USE_FILL : USE_MAKE);
	}
}

const struct op_kind op_copy = { .name = "copy", .uses = uses, .items = op_each_row, .item = item };
