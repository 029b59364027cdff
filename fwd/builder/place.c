/* After recording: which rows each op needs, when values begin and end, and where they are in memory. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "fwd/plan/kinds.h"
#include "lib/base/grow.h"
#include "lib/base/size.h"

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

/* Replaces the plan's ops by its own and those that select rows. */
static void choose_ops(struct graph *g)
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

/* ---- memory ---- */

struct placing {
	struct uses uses;               /* first, for the visitors */
	struct graph *g;
	size_t time;                    /* of the op that is visited */
	unsigned char *base;            /* of the memory, once it is allocated */
};

/* An op whose items may run right after those of the op before has the time of that op, because other items of both may
 * run at the same time. */
static size_t next_time(const struct plan *p, size_t op, size_t time)
{
	return op && p->op[op].kind->follows ? time : time + 1;
}

static void extend(struct life *l, size_t time)
{
	l->begin = size_min(l->begin, time);
	l->end = size_max(l->end, time);
}

static void time_rows(struct uses *u, struct buffer *x, size_t n, enum use use)
{
	if (x->value)
		extend(&x->value->in->life, ((struct placing *)u)->time);
}

static void time_packed(struct uses *u, struct packed **p, const struct buffer *of, enum use use)
{
	struct value *v = of ? of->value : *p ? (*p)->value : NULL;

	if (v && v->packed)
		extend(&v->life, ((struct placing *)u)->time);
}

static void no_routing(struct uses *u, const struct routing *r, enum use use)
{
}

static void visit(struct placing *v)
{
	struct plan *p = v->g->plan;

	v->time = 0;
	for (size_t i = 0; i < p->n_ops; i++) {
		v->time = next_time(p, i, v->time);
		p->op[i].kind->uses(p->op[i].bound, &v->uses);
	}
}

/* Finds out when rows are used first and last. What the body makes and the head reads lasts to the end, because the
 * head may run several times. So does what the plan keeps. What comes from another plan is there from the start. */
static void find_times(struct graph *g)
{
	struct placing v = { .uses = { time_rows, time_packed, no_routing }, .g = g };
	struct plan *p = g->plan;
	size_t body = 0;

	visit(&v);
	for (size_t i = 0; i < p->n_body; i++)
		body = next_time(p, i, body);
	for (struct storage *s = g->storages; s; s = s->next)
		if (s->life.begin <= body && s->life.end > body)
			s->life.end = SIZE_MAX;
	for (const struct kept_rows *k = g->kept; k; k = k->next)
		extend(&k->x->value->in->life, SIZE_MAX);
	for (size_t i = 0; i < p->in.parts; i++)
		extend(&p->in.rows[i].value->in->life, 0);
}

static size_t acts_bytes(const struct plan *p, const struct packed *a, enum acts_kind kind)
{
	const struct kernels *k = p->step.k;

	return a->experts ? expert_acts_bytes(k, kind, a->k, p->setup.batch * a->used)
		: k->acts_bytes(kind, a->k, p->setup.batch);
}

/* What needs memory for some time: rows of floats, or packed rows. */
struct area {
	struct life life;
	size_t bytes, *offset;
	struct area *next;              /* of those in use, by offset */
};

static int earlier(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return (x->life.begin > y->life.begin) - (x->life.begin < y->life.begin);
}

/* Gives an area the smallest gap between those in use that it fits in, or the end. Returns where it ends. */
static size_t place(struct area **used, struct area *a)
{
	struct area **best = NULL, **at;
	size_t end = 0, least = SIZE_MAX, room;

	for (at = used; *at; at = &(*at)->next) {
		room = *(*at)->offset - end;
		if (room >= a->bytes && room < least) {
			least = room;
			best = at;
			*a->offset = end;
		}
		end = *(*at)->offset + (*at)->bytes;
	}
	if (!best) {
		best = at;
		*a->offset = end;
	}
	a->next = *best;
	*best = a;
	return *a->offset + a->bytes;
}

/* Places areas in the order of their beginnings. Returns the size of the memory. */
static size_t place_all(struct area *area, size_t n)
{
	struct area *used = NULL;
	size_t bytes = 0;

	qsort(area, n, sizeof *area, earlier);
	for (struct area *a = area; a < area + n; a++) {
		for (struct area **at = &used; *at;)
			if ((*at)->life.end < a->life.begin)
				*at = (*at)->next;
			else
				at = &(*at)->next;
		bytes = size_max(bytes, place(&used, a));
	}
	return bytes;
}

static struct area *add_area(struct area *a, struct life life, size_t bytes, size_t *offset)
{
	*a = (struct area){ .life = life, .bytes = size_divide_up(bytes, PLAN_ALIGN) * PLAN_ALIGN, .offset = offset };
	return a + (life.begin <= life.end && bytes);
}

/* Places all values. Returns the size of the memory, or SIZE_MAX on failure. */
static size_t place_values(struct graph *g)
{
	const struct plan *p = g->plan;
	size_t n = 1, bytes = SIZE_MAX;
	struct area *area, *end;

	for (const struct storage *s = g->storages; s; s = s->next)
		n++;
	for (const struct value *v = g->packed; v; v = v->next)
		n += ACTS_KINDS;
	end = area = calloc(n, sizeof *area);
	if (!area)
		return SIZE_MAX;
	for (struct storage *s = g->storages; s; s = s->next)
		end = add_area(end, s->life, p->setup.batch * s->times * s->width * sizeof(float), &s->offset);
	for (struct value *v = g->packed; v; v = v->next)
		for (int kind = 0; kind < ACTS_KINDS; kind++)
			if (v->packed->wants[kind])
				end = add_area(end, v->life, acts_bytes(p, v->packed, kind), &v->packed_offset[kind]);
	bytes = place_all(area, (size_t)(end - area));
	free(area);
	return bytes;
}

/* ---- binding ---- */

static void bind(const struct placing *v, struct buffer *x)
{
	const struct value *value = x->value;

	if (!value)
		return;
	x->at = (float *)(v->base + value->in->offset) + value->column;
	x->stride = value->in->width;
	x->value = NULL;
}

static void bind_rows(struct uses *u, struct buffer *x, size_t n, enum use use)
{
	bind((struct placing *)u, x);
}

static void bind_packed(struct uses *u, struct packed **p, const struct buffer *of, enum use use)
{
	if (of)
		*p = of->value->packed;
}

static void bind_all(struct graph *g, unsigned char *base)
{
	struct placing v = { .uses = { bind_rows, bind_packed, no_routing }, .g = g, .base = base };
	struct plan *p = g->plan;

	for (struct op *op = p->op; op < p->op + p->n_ops; op++)
		for (size_t i = 0; i < OP_OUTPUTS; i++)
			bind(&v, &op->output[i].from);
	visit(&v);
	for (const struct kept_rows *k = g->kept; k; k = k->next)
		bind(&v, k->x);
	for (size_t i = 0; i < p->in.parts; i++)
		bind(&v, &p->in.rows[i]);
	for (struct value *x = g->packed; x; x = x->next)
		for (int kind = 0; kind < ACTS_KINDS; kind++)
			x->packed->acts[kind] = (struct acts){ .kind = kind, .k = x->packed->k,
				.formats = x->packed->wants[kind], .data = base + x->packed_offset[kind] };
}

int graph_place(struct graph *g)
{
	size_t bytes;
	void *memory;

	if (!g->failed)
		graph_check_parts(g);
	if (!g->failed)
		choose_ops(g);
	if (g->failed)
		return g->failed;
	find_times(g);
	bytes = place_values(g);
	memory = bytes < SIZE_MAX ? plan_memory(g->plan, bytes, 1) : NULL;
	if (!memory)
		return g->failed = why(g->w, "out of memory for a batch of %zu rows", g->plan->setup.batch);
	bind_all(g, memory);
	return 0;
}
