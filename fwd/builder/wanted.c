/* After recording: which ops act on all rows of the batch and which on the wanted ones, and what selects these. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "fwd/plan/kinds.h"
#include "lib/base/grow.h"

/* ---- which rows ---- */

/* Whether an op's rows are all rows of the batch. Those of other plans come with all rows. */
static int all_rows(const struct graph *g, const unsigned char *all, int op)
{
	return op != GRAPH_END && (g->absent[op] || all[op]);
}

/* Whether an op after the link's reader reads all rows of what the reader would need the wanted rows of. */
static int read_later(const struct graph *g, const unsigned char *all, const struct link *of)
{
	for (const struct link *l = of + 1; l < g->link + g->links; l++)
		if (l->in == of->in && l->maker == of->maker && l->reader > of->reader && l->from < of->to
		    && of->from < l->to && (l->all || all_rows(g, all, l->reader)))
			return 1;
	return 0;
}

/* Applies a link to the ops at its ends. Returns whether one of them now needs all rows. */
static int spread(const struct graph *g, unsigned char *all, const struct link *l)
{
	int maker = all_rows(g, all, l->maker), reader = all_rows(g, all, l->reader);

	if (l->reader != GRAPH_END && g->absent[l->reader])
		return 0;
	if (!maker && (l->all || reader))
		return all[l->maker] = 1;
	if (maker && !reader && l->reader != GRAPH_END && (!l->in || (!l->all && read_later(g, all, l))))
		return all[l->reader] = 1;
	return 0;
}

/* all[op]: the op acts on all rows of the batch, because something after it needs them; otherwise on the wanted
 * ones. */
static void find_rows(const struct graph *g, unsigned char *all)
{
	int changed;

	for (size_t i = 0; i < g->plan->n_ops; i++)
		all[i] = g->plan->op[i].kind->all_rows != 0;
	do {
		changed = 0;
		for (const struct link *l = g->link + g->links; l-- > g->link;)
			changed |= spread(g, all, l);
	} while (changed);
}

/* ---- the final ops ---- */

/* The plan's own ops, with those that select rows. */
struct chosen_ops {
	struct graph *g;
	const unsigned char *all;
	const struct link *link;        /* the first whose reader has not been taken yet */
	struct link *done;              /* [n_done]: columns whose wanted rows have been selected */
	size_t n_done, done_room;
	struct op *op;
	size_t n, room;
};

static void take_op(struct chosen_ops *c, const struct op *op)
{
	if (c->n == c->room && grow(&c->op, &c->room, sizeof *c->op, 64) < 0)
		graph_fail(c->g);
	else
		c->op[c->n++] = *op;
}

static void take_select(struct chosen_ops *c, struct op_select *o)
{
	struct op op = { .kind = &op_select, .name = op_select.name, .layer = OP_NO_LAYER, .stack = "" };

	op.bound = o->buffers ? graph_memory(c->g, sizeof *o) : NULL;
	if (op.bound) {
		memcpy(op.bound, o, sizeof *o);
		take_op(c, &op);
	}
	o->buffers = 0;
}

/* Adds those columns of a link to a select op whose wanted rows have not been moved yet. */
static void select_columns(struct chosen_ops *c, struct op_select *o, struct link l)
{
	for (size_t i = 0; i < c->n_done; i++) {
		const struct link *d = &c->done[i];
		struct link before = l, after = l;

		if (d->in != l.in || d->maker != l.maker || d->to <= l.from || l.to <= d->from)
			continue;
		before.to = d->from;
		after.from = d->to;
		if (before.from < before.to)
			select_columns(c, o, before);
		if (after.from < after.to)
			select_columns(c, o, after);
		return;
	}
	if (c->n_done == c->done_room && grow(&c->done, &c->done_room, sizeof *c->done, 64) < 0) {
		graph_fail(c->g);
		return;
	}
	c->done[c->n_done++] = l;
	if (o->buffers == SELECT_MAX)
		take_select(c, o);
	o->x[o->buffers] = rows_of(graph_columns(c->g, l.in, l.from, l.to - l.from));
	o->n[o->buffers++] = l.to - l.from;
}

/* Selects the wanted rows of what ops before `to` read, from the next one on, if it was made with all rows and they act
 * on the wanted ones. */
static void select_for(struct chosen_ops *c, int to)
{
	struct op_select o = { .buffers = 0 };
	int first = c->link < c->g->link + c->g->links ? c->link->reader : to;

	for (; c->link < c->g->link + c->g->links && (c->link->reader < to || to == GRAPH_END); c->link++)
		if (c->link->in && !c->link->all && c->link->maker < first && all_rows(c->g, c->all, c->link->maker)
		    && !all_rows(c->g, c->all, c->link->reader))
			select_columns(c, &o, *c->link);
	take_select(c, &o);
}

/* The head may run several times, so what it reads is selected before. */
static void take_ops(struct chosen_ops *c)
{
	struct plan *p = c->g->plan;
	size_t encoder = p->n_encoder, body = p->n_body, pooled = p->n_pooled;

	c->link = c->g->link;
	for (size_t i = 0; i <= p->n_ops; i++) {
		if (i == encoder)
			p->n_encoder = c->n;
		if (i == pooled)
			p->n_pooled = c->n;
		if (i < body)
			select_for(c, (int)i + 1);
		else if (i == body) {
			select_for(c, GRAPH_END);
			p->n_body = c->n;
		}
		if (i == p->n_ops || c->g->absent[i])
			continue;
		p->op[i].wanted = !c->all[i];
		take_op(c, &p->op[i]);
	}
}

/* The head runs over some of the wanted rows at a time. */
static void check_head(struct graph *g, const unsigned char *all)
{
	const struct plan *p = g->plan;

	for (size_t i = p->n_body; i < p->n_ops && !g->failed; i++)
		if (!g->absent[i] && all[i])
			g->failed = why(g->w, "op %s: in the head, but needs all rows of the batch", p->op[i].name);
}

void graph_choose_ops(struct graph *g)
{
	struct plan *p = g->plan;
	unsigned char *all = arena_array(&g->arena, p->n_ops + 1, 1);
	struct chosen_ops c = { .g = g, .all = all };

	if (!all) {
		graph_fail(g);
		return;
	}
	find_rows(g, all);
	check_head(g, all);
	take_ops(&c);
	free(c.done);
	free(p->op);
	p->op = c.op;
	p->n_ops = c.n;
}
