/* What the recurrences of RWKV 6 and 7 share. A work item is one head, over all rows of a run in order. */
#include "rwkv.h"

#include <string.h>

size_t wkv_items(const struct op *op, const struct step *s)
{
	const struct op_wkv *o = op->bound;

	return s->n_runs * (o->n / o->size);
}

float wkv_dot(const struct kernels *k, const float *a, const float *b, size_t n)
{
	float y;

	k->dots(&(struct chain_job){ .rows = 1, .cols = 1, .n = n, .a = a, .a_step = 1, .b = b, .y = &y });
	return y;
}

void wkv_norm(const struct op_wkv *o, const struct kernels *k, float *out, size_t at)
{
	struct norm norm = o->norm;

	norm.weight += norm.weight ? at : 0;
	norm.bias += norm.bias ? at : 0;
	if (norm.kind)
		k->norm(&norm, out, out, o->size);
}

void wkv_rows(const struct op *op, const struct step *s, size_t item,
	void (*move)(const struct op *op, const struct kernels *k, size_t row, size_t at, float *state))
{
	const struct op_wkv *o = op->bound;
	const struct run *r = &s->run[item / (o->n / o->size)];
	size_t head = item % (o->n / o->size), at = head * o->size, all = o->size * o->size;
	float *state = segment_current(r->state, o->state) + head * all;

	for (size_t row = r->first, next = r->pos + 1; row < r->first + r->n; row++, next++) {
		move(op, s->k, row, at, state);
		if (segment_keeps(next, r->pos + r->n))
			memcpy(segment_state(r->state, next, o->state) + head * all, state, all * sizeof *state);
	}
}

void wkv_work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_wkv *o = op->bound;
	double state = (double)(o->n * o->size);

	w->bytes += (double)s->n_runs * state * sizeof(float);
	w->attention += (double)s->n * 5 * state;
}
