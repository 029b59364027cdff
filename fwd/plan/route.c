/* route: chooses the experts of each row and their weights; route_adjugates: the same for adjugate experts. A work item
 * is a row. */
#include "kinds.h"

#include <math.h>

#include "fwd/kernels/exp.h"

#define SUM_LEAST 0x1p-14f       /* lower bound of the sum that divides weights, as in llama.cpp */

/* Turns router logits into scores, in place. */
static void gate(enum gating gating, float *p, size_t n)
{
	if (gating == GATING_SOFTMAX)
		op_softmax(p, n);
	for (size_t i = 0; i < n && gating == GATING_SIGMOID; i++)
		p[i] = exp_sigmoid(p[i]);
	for (size_t i = 0; i < n && gating == GATING_ROOT; i++)
		p[i] = sqrtf(exp_softplus(p[i]));
}

/* The sum of the two largest of v[n]. */
static float best_two(const float *v, size_t n)
{
	float first = -INFINITY, second = -INFINITY;

	for (size_t i = 0; i < n; i++)
		if (v[i] > first) {
			second = first;
			first = v[i];
		} else if (v[i] > second)
			second = v[i];
	return n > 1 ? first + second : first;
}

/* to[best] = the indexes of the `best` largest of v[n], largest first. Ties go to the lowest index.
 * Insertion, because both numbers are small: topk_sorted() would need scratch memory and leaves out −infinity. */
static void largest(const float *v, size_t n, uint16_t *to, size_t best)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = found < best ? found++ : best;

		for (; at > 0 && v[i] > v[to[at - 1]]; at--)
			if (at < best)
				to[at] = to[at - 1];
		if (at < best)
			to[at] = (uint16_t)i;
	}
}

/* Excludes all experts but those of the best groups. A group counts by the sum of its two best experts. */
static void drop_groups(const struct experts *e, float *v)
{
	float worth[EXPERTS_MAX];
	uint16_t kept[EXPERTS_MAX];
	size_t each = e->n / e->groups;

	for (size_t g = 0; g < e->groups; g++)
		worth[g] = best_two(v + g * each, each);
	largest(worth, e->groups, kept, e->groups_used);
	for (size_t i = 0; i < e->groups_used; i++)
		worth[kept[i]] = NAN;
	for (size_t i = 0; i < e->n; i++)
		if (!isnan(worth[i / each]))
			v[i] = -INFINITY;
}

/* Looks up the experts of the row's id. They are checked again because the mapped file may have been changed since it
 * was opened. */
static void look_up(const struct op *op, const struct step *s, size_t row, uint16_t *expert)
{
	const struct op_route *o = op->bound;
	const struct routing *r = o->routing;
	const int32_t *of_id = o->by_id + (size_t)s->ids[step_row(op, s, row).row] * r->used;

	for (size_t i = 0; i < r->used; i++)
		expert[i] = (uint32_t)of_id[i] < r->n ? (uint16_t)of_id[i] : 0;
}

/* Chooses the experts with the best scores. */
static void choose(const struct op_route *o, const float *score, uint16_t *expert)
{
	const struct experts *e = o->experts;
	float v[EXPERTS_MAX];

	for (size_t i = 0; i < e->n; i++)
		v[i] = o->bias ? score[i] + o->bias[i] : score[i];
	if (e->groups > 1)
		drop_groups(e, v);
	largest(v, e->n, expert, o->routing->used);
}

/* Turns the scores of a row's experts into weights, in place. */
static void weigh(const struct experts *e, float *weight, size_t used)
{
	float sum = 0;

	if (e->gating == GATING_CHOSEN)
		op_softmax(weight, used);
	for (size_t i = 0; i < used; i++)
		sum += weight[i];
	sum = sum > SUM_LEAST ? sum : SUM_LEAST;
	for (size_t i = 0; i < used; i++)
		weight[i] = (e->normalise ? weight[i] / sum : weight[i]) * e->scale;
}

static void item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_route *o = op->bound;
	const struct experts *e = o->experts;
	const struct routing *r = o->routing;
	uint16_t *expert = r->expert + row * r->used;
	float *p = buffer_row(&o->logits, row), *weight = r->weight + row * r->used;

	if (!e->weighted)
		gate(e->gating, p, r->n);
	if (o->by_id)
		look_up(op, s, row, expert);
	else
		choose(o, p, expert);
	if (e->weighted)        /* they are chosen by logits, because sigmoids of large logits are equal */
		gate(e->gating, p, r->n);
	for (size_t i = 0; i < r->used; i++)
		weight[i] = p[expert[i]];
	weigh(e, weight, r->used);
}

static void uses(void *bound, struct uses *u)
{
	struct op_route *o = bound;

	u->rows(u, &o->logits, o->routing->n, USE_CHANGE);
	u->routing(u, o->routing, USE_MAKE);
}

const struct op_kind op_route = { .name = "route", .uses = uses, .items = op_each_row, .item = item };

/* As in llama.cpp: two of the best experts may have the same adjugate, which is then counted twice, and the weight of
 * adjugate a is the score of expert a. */
static void adjugates_item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_route_adjugates *o = op->bound;
	const struct experts *e = o->adjugates;
	const struct routing *r = o->routing;
	uint16_t *expert = r->expert + row * r->used;
	float *p = buffer_row(&o->scores, row), *weight = r->weight + row * r->used;

	largest(p, e->n * e->stand_for, expert, r->used);
	for (size_t i = 0; i < r->used; i++) {
		expert[i] = (uint16_t)(expert[i] / e->stand_for);
		weight[i] = p[expert[i]];
	}
	weigh(e, weight, r->used);
}

static void adjugates_uses(void *bound, struct uses *u)
{
	struct op_route_adjugates *o = bound;

	u->rows(u, &o->scores, o->adjugates->n * o->adjugates->stand_for, USE_READ);
	u->routing(u, o->routing, USE_MAKE);
}

const struct op_kind op_route_adjugates = { .name = "route_adjugates", .uses = adjugates_uses, .items = op_each_row,
	.item = adjugates_item };
