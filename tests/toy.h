/* toy: ops of the tests of fwd/builder/graph, and the graph of the test. A program includes it in exactly one file. */
#ifndef TOY_H
#define TOY_H

#include <stdlib.h>
#include <string.h>

#include "fwd/builder/graph.h"
#include "fwd/kernels/kernels.h"
#include "fwd/plan/kinds.h"

enum { ROWS = 8, WIDTH = 24, USES = 5 };

/* An op: what it makes of a row depends on all that it reads, in this order. */
struct toy {
	uint32_t number;
	struct toy_use {
		struct buffer x;
		size_t n;
		enum use use;
	} use[USES];
	size_t uses;
	struct packed *reads, *packs;   /* or NULL */
	size_t packs_use;               /* packs: what this use makes; USES: nothing */
	struct routing *routing;        /* that it reads; or NULL */
};

static void toy_uses(void *bound, struct uses *u)
{
	struct toy *t = bound;

	if (t->packs_use < USES)
		u->packed(u, &t->packs, &t->use[t->packs_use].x, USE_MAKE);
	u->packed(u, &t->reads, NULL, USE_READ);
	u->routing(u, t->routing, USE_READ);
	for (struct toy_use *x = t->use; x < t->use + t->uses; x++)
		u->rows(u, &x->x, x->n, x->use);
}

static uint32_t mix(uint32_t hash, uint32_t x)
{
	hash = (hash ^ x) * 0x9e3779b1;
	return hash ^ hash >> 15;
}

static uint32_t hash_rows(uint32_t hash, const struct toy_use *x, size_t from, size_t to)
{
	uint32_t bits;

	for (size_t i = from; i < to; i++)
		for (size_t j = 0; j < x->n; j++) {
			memcpy(&bits, buffer_row(&x->x, i) + j, sizeof bits);
			hash = mix(hash, bits);
		}
	return hash;
}

static void toy_item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct run *last = s->run + s->n_runs - 1;
	const struct toy *t = op->bound;
	uint32_t hash = t->number, bits;

	for (const struct toy_use *x = t->use; x < t->use + t->uses; x++)
		if (x->use == USE_READ_ALL)
			hash = hash_rows(hash, x, 0, last->first + last->n);
		else if (x->use != USE_MAKE)
			hash = hash_rows(hash, x, x->use == USE_READ && op->kind->all_rows ? 0 : item, item + 1);
	if (t->reads)
		hash = mix(hash, ((const uint32_t *)t->reads->acts[0].data)[item]);
	for (const struct toy_use *x = t->use; x < t->use + t->uses; x++)
		for (size_t j = 0; x->use >= USE_MAKE && j < x->n; j++) {
			bits = mix(hash, (uint32_t)j);
			memcpy(buffer_row(&x->x, item) + j, &bits, sizeof bits);
		}
	if (t->packs)
		((uint32_t *)t->packs->acts[0].data)[item] = hash;
}

static int toy_follows(const struct op *op, const struct step *s)
{
	return op[-1].kind != &op_select && op[-1].wanted == op->wanted;
}

/* `each` acts on each row alone. `follower` can follow another op. What `all` makes of a row also depends on the rows
 * before it. */
static const struct op_kind each = { "each", toy_uses, 0, op_each_row, toy_item, NULL, NULL };
static const struct op_kind follower = { "follower", toy_uses, 0, op_each_row, toy_item, toy_follows, NULL };
static const struct op_kind all = { "all", toy_uses, 1, op_each_row, toy_item, NULL, NULL };

/* ---- a graph ---- */

static struct plan *plan;
static struct graph graph;
static struct why reason;

static void begin(void)
{
	plan = calloc(1, sizeof *plan);
	plan->setup.batch = ROWS;
	plan->step.k = kernels_select("scalar");
	reason.text[0] = '\0';
	graph_open(&graph, plan, &reason);
}

static void end(void)
{
	graph_close(&graph);
	plan_close(plan);
}

static struct value *value(size_t n)
{
	return graph_value(&graph, n, 1);
}

static struct toy_use using(enum use use, struct value *v)
{
	return (struct toy_use){ rows_of(v), v->n, use };
}

static int add(const struct op_kind *kind, const char *name, const struct toy *t)
{
	return graph_append(&graph, (struct op){ .kind = kind, .name = name, .layer = OP_NO_LAYER }, t, sizeof *t);
}

#endif
