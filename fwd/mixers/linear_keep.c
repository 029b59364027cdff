/* linear_keep: stores the rows of the last two chunks for the batches that follow. It has the items of linear. */
#include "linear.h"

#include <string.h>

#include "lib/base/size.h"

/* Stores columns [from, from + n) of rows of `width`, if the rows are in the last two chunks of the run. */
static void keep(const struct run *r, size_t ring, const struct buffer *b, size_t width, size_t from, size_t n)
{
	size_t end = r->pos + r->n, last = (end - 1) / STATE_CHUNK * STATE_CHUNK;

	for (size_t pos = size_max(r->pos, last - size_min(last, STATE_CHUNK)); pos < end; pos++)
		memcpy((float *)segment_row(r->state, ring, width * sizeof(float), pos) + from,
			buffer_row(b, r->first + pos - r->pos) + from, n * sizeof(float));
}

/* Stores the part of one head. The first of the heads that share a key head also stores k. */
static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_linear *o = op->bound;
	struct head_values h = linear_values(o, s, item);
	size_t first = o->consecutive ? h.head_k * (o->n_head / o->n_head_k) : h.head_k, n = linear_decays(o);

	keep(h.run, o->ring_d, &o->d, o->n_head * o->dim_v, h.head * o->dim_v + h.v, h.n);
	if (h.v == 0)
		keep(h.run, o->ring_g, &o->decay, o->n_head * n, h.head * n, n);
	if (h.v == 0 && h.head == first)
		keep(h.run, o->ring_k, &o->k, o->n_head_k * o->dim_k, h.head_k * o->dim_k, o->dim_k);
}

/* Not if it would replace k while another head still reads it. */
static int follows(const struct op *op, const struct step *s)
{
	for (const struct run *r = s->run; r < s->run + s->n_runs; r++)
		if (r->pos % STATE_CHUNK + r->n > 2 * STATE_CHUNK)
			return 0;
	return 1;
}

static void uses(void *bound, struct uses *u)
{
	struct op_linear *o = bound;

	u->rows(u, &o->k, o->n_head_k * o->dim_k, USE_READ);
	u->rows(u, &o->d, o->n_head * o->dim_v, USE_READ);
	u->rows(u, &o->decay, o->n_head * linear_decays(o), USE_READ);
}

const struct op_kind op_linear_keep = { .name = "linear_keep", .uses = uses, .all_rows = 1,
	.items = linear_items, .item = item, .follows = follows };
