/* convolve: short convolutions. A work item is some channels of a run's rows, in order; channels are independent.
 * Earlier rows come from the segment, whichever batch they were in: the ring has them from the start of the chunk of
 * the run's first row on, and the state at that chunk's start has the taps - 1 inputs before it. */
#include "kinds.h"

#include <string.h>

#include "lib/base/size.h"

static size_t items(const struct op *op, const struct step *s)
{
	return op_channel_items(s, ((const struct op_convolve *)op->bound)->n);
}

/* The input u at this position, of the run or earlier, from this channel on. */
static float *input(const struct op_convolve *o, const struct run *r, size_t pos, size_t channel)
{
	size_t start = r->pos / STATE_CHUNK * STATE_CHUNK;

	if (pos >= start)
		return (float *)segment_row(r->state, o->ring, o->n * sizeof(float), pos) + channel;
	return segment_state(r->state, start, o->state) + (pos + o->taps - 1 - start) * o->n + channel;
}

/* Stores the state at pos, of n channels. */
static void keep(const struct op_convolve *o, const struct run *r, size_t pos, size_t channel, size_t n)
{
	float *to = segment_state(r->state, pos, o->state) + channel;

	for (size_t p = pos - (o->taps - 1); p < pos; p++, to += o->n)
		memcpy(to, input(o, r, p, channel), n * sizeof *to);
}

/* Convolves n channels of a row, from `channel` on. */
static void convolve(const struct op_convolve *o, const struct kernels *k, const struct run *r, size_t row,
	size_t channel, size_t n)
{
	const float *x = buffer_row(&o->in, row) + channel, *weight[STATE_CHUNK], *rows[STATE_CHUNK];
	size_t pos = r->pos + row - r->first, taps = size_min(o->taps, pos + 1);
	float *now = input(o, r, pos, channel), *out = buffer_row(&o->out, row) + channel;

	if (o->gated)
		k->multiply(now, x, x + 2 * o->n, n);
	else
		memcpy(now, x, n * sizeof *now);
	for (size_t j = 0; j < taps; j++) {
		weight[j] = o->weight + (o->taps - 1 - j) * o->n + channel;
		rows[j] = input(o, r, pos - j, channel);
	}
	k->taps(out, weight, rows, taps, o->bias ? o->bias + channel : NULL, n);
	if (o->gated)
		k->multiply(out, x + o->n, out, n);
	else
		k->unary(UNARY_SILU, out, out, n);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_convolve *o = op->bound;
	const struct run_channels c = op_channels(s, o->n, item);
	const struct run *r = c.run;

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		convolve(o, s->k, r, row, c.at, c.n);
		if (segment_keeps(next, r->pos + r->n))
			keep(o, r, next, c.at, c.n);
	}
}

const struct op_kind op_convolve = { .name = "convolve", .items = items, .item = item };
