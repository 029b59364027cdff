/* experts: the ops between the products of a mixture. `expert_rows` sorts the slots (a row and one of its experts) by
 * expert, so that a panel of weights is unpacked once for all rows that use it, and packs the rows of each expert;
 * `combine` adds up the results of a row's experts. */
#include "kinds.h"

#include <string.h>

#include "fwd/kernels/exp.h"
#include "lib/base/size.h"

/* ---- sorting ---- */

/* Sorts slots by expert and, within an expert, by row. */
static void sort(struct routing *r, size_t rows)
{
	size_t slots = rows * r->used;

	memset(r->first, 0, (r->n + 1) * sizeof *r->first);
	for (size_t i = 0; i < slots; i++)
		r->first[r->expert[i] + 1]++;
	r->n_active = 0;
	for (size_t e = 0; e < r->n; e++) {
		if (r->first[e + 1])
			r->active[r->n_active++] = (uint16_t)e;
		r->first[e + 1] += r->first[e];
	}
	for (size_t i = 0; i < slots; i++)
		r->place[i] = r->first[r->expert[i]]++;
	for (size_t i = 0; i < slots; i++)
		r->slot[r->place[i]] = (uint32_t)i;
	for (size_t e = r->n; e > 0; e--)
		r->first[e] = r->first[e - 1];
	r->first[0] = 0;
}

/* Divides the rows of each expert into groups of up to `columns`. */
static void divide(struct routing *r, size_t columns)
{
	r->n_groups = 0;
	for (size_t i = 0; i < r->n_active; i++) {
		size_t e = r->active[i], n = r->first[e + 1] - r->first[e];

		for (size_t from = 0; from < n; from += columns)
			r->group[r->n_groups++] = (struct expert_group){ .expert = (uint32_t)e, .from = (uint32_t)from,
				.to = (uint32_t)size_min(from + columns, n) };
	}
}

/* Bytes for up to n columns, packed separately. */
static size_t acts_room(const struct kernels *k, enum acts_kind kind, size_t elements, size_t n)
{
	return (k->acts_bytes(kind, elements, n) + 63) / 64 * 64;
}

size_t expert_acts_bytes(const struct kernels *k, enum acts_kind kind, size_t elements, size_t slots)
{
	enum { TRIED = 128 };   /* with more columns each needs less space: backends pack up to 64 separately */
	size_t most = 0;

	for (size_t n = 1; n <= TRIED; n++)
		most = size_max(most, (acts_room(k, kind, elements, n) + n - 1) / n);
	return slots * most + 64;
}

size_t packed_place(const struct packed *p, const struct kernels *k, size_t e, size_t n, enum acts_kind kind,
	size_t at)
{
	p->by_expert[kind][e] = (struct acts){ .kind = kind, .k = p->k, .n = n, .formats = p->wants[kind],
		.data = (char *)p->acts[kind].data + at };
	return at + acts_room(k, kind, p->k, n);
}

/* Assigns memory to the rows of each expert. alone: all experts read the same row. */
static void place(const struct op_expert_rows *o, const struct step *s, int alone)
{
	const struct routing *r = o->routing;
	struct packed *p = o->packed;

	for (size_t kind = 0; kind < ACTS_KINDS; kind++) {
		size_t at = 0;

		for (size_t i = 0; i < r->n_active && p->wants[kind]; i++) {
			size_t e = r->active[i], n = alone ? 1 : r->first[e + 1] - r->first[e];
			size_t next = packed_place(p, s->k, e, n, kind, at);

			at = alone ? 0 : next;
		}
	}
}

/* ---- expert_rows ---- */

/* Whether a single row can be packed once for all its experts: not if it has one of them twice. */
static int is_alone(const struct op_expert_rows *o, const struct step *s)
{
	return o->gathers && s->n == 1 && !o->weighted && o->routing->n_active == o->routing->used;
}

static size_t rows_items(const struct op *op, const struct step *s)
{
	const struct op_expert_rows *o = op->bound;

	if (o->gathers) {
		sort(o->routing, s->n);
		divide(o->routing, s->k->acts_columns);
	}
	place(o, s, is_alone(o, s));
	return is_alone(o, s) ? 1 : o->routing->n_groups;
}

/* Gathers rows [from, to) of an expert, from place `at` on, into scratch. */
static const float *gather(const struct op_expert_rows *o, const struct step *s, size_t at, size_t n, float *to)
{
	const struct routing *r = o->routing;

	for (size_t i = 0; i < n; i++) {
		size_t slot = r->slot[at + i];
		const float *x = buffer_row(&o->in, slot / r->used);

		if (o->weighted)
			s->k->scale(to + i * o->n, x, r->weight[slot], o->n);
		else
			memcpy(to + i * o->n, x, o->n * sizeof *x);
	}
	return to;
}

static void activate(const struct op_expert_rows *o, const struct step *s, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++) {
		float *x = buffer_row(&o->in, i);

		if (o->plain)
			continue;
		if (o->gated)
			rows_glu(s->k, o->unary, o->limit, x, x, x + o->n, o->n);
		else
			s->k->unary(o->unary, x, x, o->n);
	}
}

static void rows_item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_expert_rows *o = op->bound;
	const struct expert_group g = o->routing->group[item];
	size_t at = o->routing->first[g.expert] + g.from, n = g.to - g.from, stride = o->gathers ? o->n : o->in.stride;
	const float *x;

	if (is_alone(o, s))
		x = buffer_row(&o->in, 0);
	else if (o->gathers)
		x = gather(o, s, at, n, (float *)step_scratch(s, thread));
	else {
		activate(o, s, at, n);
		x = buffer_row(&o->in, at);
	}
	for (size_t kind = 0; kind < ACTS_KINDS; kind++)
		if (o->packed->wants[kind])
			s->k->acts_pack(&o->packed->by_expert[kind][g.expert], x, stride,
				(struct acts_part){ g.from, g.to, 0, o->n });
}

static void rows_uses(void *bound, struct uses *u)
{
	struct op_expert_rows *o = bound;

	u->routing(u, o->routing, USE_READ);
	u->rows(u, &o->in, o->gated ? 2 * o->n : o->n, o->gathers || o->plain ? USE_READ : USE_SPOIL);
	u->packed(u, &o->packed, NULL, USE_MAKE);
}

const struct op_kind op_expert_rows = { .name = "expert_rows", .uses = rows_uses, .items = rows_items,
	.item = rows_item };

/* ---- combine ---- */

/* Adds the results from the best expert to the worst, then the shared expert's. */
static void combine_item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_combine *o = op->bound;
	const struct routing *r = o->routing;
	float *y = buffer_row(&o->out, row);

	for (size_t i = row * r->used; i < (row + 1) * r->used; i++) {
		const float *x = buffer_row(&o->in, r->place[i]);
		float weight = o->unweighted ? 1 : r->weight[i];

		if (o->scale)
			weight *= o->scale[r->expert[i]];
		(i == row * r->used && !o->adds ? s->k->scale : s->k->add_scaled)(y, x, weight, o->n);
	}
	if (o->shared.at)
		s->k->add_scaled(y, buffer_row(&o->shared, row),
			o->gate.at ? exp_sigmoid(*buffer_row(&o->gate, row)) : o->scale_shared, o->n);
}

static void combine_uses(void *bound, struct uses *u)
{
	struct op_combine *o = bound;

	u->routing(u, o->routing, USE_READ);
	u->rows(u, &o->in, o->n, USE_READ);
	u->rows(u, &o->shared, o->n, USE_READ);
	u->rows(u, &o->gate, 1, USE_READ);
	u->rows(u, &o->out, o->n, o->adds ? USE_CHANGE : USE_MAKE);
}

const struct op_kind op_combine = { .name = "combine", .uses = combine_uses, .items = op_each_row,
	.item = combine_item };
