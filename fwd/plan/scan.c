/* scan: the selective scan of Mamba (Gu and Dao 2023). A work item is some channels of a run's rows, in order. */
#include "kinds.h"

#include <string.h>

#include "lib/base/size.h"

static size_t items(const struct op *op, const struct step *s)
{
	return op_channel_items(s, ((const struct op_scan *)op->bound)->n);
}

/* One row of n channels from `at` on: updates the state, and overwrites dt with y. */
static void scan_row(const struct op_scan *o, const struct kernels *k, size_t row, float *state, size_t at, size_t n)
{
	const float *x = buffer_row(&o->x, row) + at, *b = buffer_row(&o->bc, row), *c = b + o->states;
	float *dt = buffer_row(&o->dt, row) + at, in[CHANNELS_EACH], decay[CHANNELS_EACH], y[CHANNELS_EACH];

	k->unary(UNARY_SOFTPLUS, dt, dt, n);
	k->multiply(in, dt, x, n);
	k->multiply(y, o->skip + at, x, n);
	for (size_t i = 0; i < o->states; i++, state += o->n) {
		k->multiply(decay, dt, o->a + i * o->n + at, n);
		k->unary(UNARY_EXP, decay, decay, n);
		k->multiply(state, state, decay, n);
		k->add_scaled(state, in, b[i], n);
		k->add_scaled(y, state, c[i], n);
	}
	memcpy(dt, y, n * sizeof *y);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_scan *o = op->bound;
	const struct run_channels c = op_channels(s, o->n, item);
	const struct run *r = c.run;
	float *state = segment_current(r->state, o->state) + c.at;

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		scan_row(o, s->k, row, state, c.at, c.n);
		if (!segment_keeps(next, r->pos + r->n))
			continue;
		for (size_t i = 0; i < o->states; i++)
			memcpy(segment_state(r->state, next, o->state) + c.at + i * o->n, state + i * o->n,
				c.n * sizeof *state);
	}
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_scan *o = op->bound;
	double state = (double)(o->n * o->states);

	w->bytes += (double)s->n_runs * state * sizeof(float);
	w->attention += (double)s->n * 3 * state;
}

const struct op_kind op_scan = { .name = "scan", .items = items, .item = item, .work = work };
