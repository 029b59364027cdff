/* logits: scales and caps logits and rules ids out, in families that do so. A work item is part of a row. */
#include "kinds.h"

#include <float.h>

#include "lib/base/size.h"

enum { EACH = 4096 };

static size_t per_row(const struct op *op)
{
	const struct op_logits *o = op->bound;

	return size_divide_up(o->n, EACH);
}

static size_t items(const struct op *op, const struct step *s)
{
	return s->n * per_row(op);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_logits *o = op->bound;
	size_t from = item % per_row(op) * EACH, n = size_min(EACH, o->n - from);
	float *x = s->logits + item / per_row(op) * o->n + from;

	s->k->scale(x, x, o->scale, n);
	if (o->cap > 0)
		s->k->cap(x, o->cap, n);
	for (size_t i = size_max(o->from, from); i < size_min(o->to, from + n); i++)
		x[i - from] = -FLT_MAX;
}

static void uses(void *bound, struct uses *u)
{
}

const struct op_kind op_logits = { .name = "logits", .uses = uses, .items = items, .item = item };
