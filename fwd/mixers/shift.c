/* shift: blends each row with the row before. A work item is some channels of a run's rows, in order. */
#include "rwkv.h"

#include <string.h>

static size_t items(const struct op *op, const struct step *s)
{
	return op_channel_items(s, ((const struct op_shift *)op->bound)->n);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_shift *o = op->bound;
	const struct run_channels c = op_channels(s, o->n, item);
	const struct run *r = c.run;
	float *before = segment_current(r->state, o->state) + c.at, change[CHANNELS_EACH];

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		const float *x = buffer_row(&o->in, row) + c.at, *weight = o->weight + c.at;
		float *out = buffer_row(&o->out, row) + c.at;

		memcpy(change, before, c.n * sizeof *change);
		s->k->add_scaled(change, x, -1, c.n);
		if (o->change.at)
			memcpy(buffer_row(&o->change, row) + c.at, change, c.n * sizeof *change);
		for (size_t i = 0; i < o->outputs; i++, out += o->n, weight += o->n) {
			s->k->multiply(out, change, weight, c.n);
			s->k->add(out, out, x, c.n);
		}
		memcpy(before, x, c.n * sizeof *before);
		if (segment_keeps(next, r->pos + r->n))
			memcpy(segment_state(r->state, next, o->state) + c.at, before, c.n * sizeof *before);
	}
}

static void blend_item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_blend *o = op->bound;
	const float *x = buffer_row(&o->x, item), *change = buffer_row(&o->change, item);
	float *out = buffer_row(&o->out, item);

	for (size_t i = 0; i < o->outputs; i++, out += o->n) {
		s->k->add(out, out, o->weight + i * o->n, o->n);
		s->k->multiply(out, out, change, o->n);
		s->k->add(out, out, x, o->n);
	}
}

static void blend_uses(void *bound, struct uses *u)
{
	struct op_blend *o = bound;

	u->rows(u, &o->x, o->n, USE_READ);
	u->rows(u, &o->change, o->n, USE_READ);
	u->rows(u, &o->out, o->outputs * o->n, USE_CHANGE);
}

static void uses(void *bound, struct uses *u)
{
	struct op_shift *o = bound;

	u->rows(u, &o->in, o->n, USE_READ);
	u->rows(u, &o->out, o->outputs * o->n, USE_MAKE);
	u->rows(u, &o->change, o->n, USE_MAKE);
}

const struct op_kind op_blend = { .name = "blend", .uses = blend_uses, .items = op_each_row, .item = blend_item };
const struct op_kind op_shift = { .name = "shift", .uses = uses, .all_rows = 1, .items = items, .item = item };
