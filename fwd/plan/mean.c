/* mean: the mean of the rows of each text. A work item is some elements of a text's rows. */
#include "kinds.h"

#include <string.h>

static size_t items(const struct op *op, const struct step *s)
{
	return op_channel_items(s, ((const struct op_mean *)op->bound)->n);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_mean *o = op->bound;
	struct run_channels c = op_channels(s, o->n, item);
	const struct run *r = c.run;
	float *out = buffer_row(&o->out, (size_t)(r - s->run)) + c.at;

	memcpy(out, buffer_row(&o->in, r->first_wanted) + c.at, c.n * sizeof *out);
	for (size_t i = 1; i < r->wanted; i++)
		s->k->add(out, out, buffer_row(&o->in, r->first_wanted + i) + c.at, c.n);
	s->k->scale(out, out, 1 / (float)r->wanted, c.n);
}

static void uses(void *bound, struct uses *u)
{
	struct op_mean *o = bound;

	u->rows(u, &o->in, o->n, USE_READ);
	u->rows(u, &o->out, o->n, USE_MAKE);
}

const struct op_kind op_mean = { .name = "mean", .uses = uses, .items = items, .item = item };
