/* Recording: which columns of which rows each op reads and makes. */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/size.h"

enum { VALUES_BYTES = 1 << 28 };        /* more than any model's values need */

void graph_open(struct graph *g, struct plan *p, struct why *w)
{
	*g = (struct graph){ .plan = p, .arena = { .limit = VALUES_BYTES }, .w = w };
	g->nothing.in = &g->nowhere;
}

void graph_close(struct graph *g)
{
	arena_free(&g->arena);
	free(g->link);
	free(g->absent);
}

void graph_fail(struct graph *g)
{
	if (!g->failed)
		g->failed = why(g->w, "out of memory");
}

void *graph_memory(struct graph *g, size_t size)
{
	void *p = g->failed ? NULL : plan_memory(g->plan, 1, size);

	if (!p)
		graph_fail(g);
	return p;
}

/* ---- values ---- */

static int n_ops(const struct graph *g)
{
	return (int)g->plan->n_ops;
}

static const char *op_name(const struct graph *g, int op)
{
	return op == GRAPH_END ? "end" : op < 0 ? "none" : g->plan->op[op].name;
}

static struct value *make(struct graph *g, struct storage *in, size_t column, size_t n)
{
	struct value *v = g->failed ? NULL : arena_array(&g->arena, 1, sizeof *v);

	if (!v) {
		graph_fail(g);
		return &g->nothing;
	}
	*v = (struct value){ .in = in, .column = column, .n = n, .since = n_ops(g) - 1, .packer = GRAPH_NO_OP,
		.life.begin = SIZE_MAX };
	return v;
}

/* Makes room for two more, the most that one use adds. */
static int columns_room(struct graph *g, struct storage *s)
{
	struct columns *more;

	if (s->n_columns + 2 <= s->room)
		return 0;
	more = arena_array(&g->arena, 2 * s->room + 4, sizeof *more);
	if (!more)
		return -1;
	if (s->n_columns)
		memcpy(more, s->columns, s->n_columns * sizeof *more);
	s->columns = more;
	s->room = 2 * s->room + 4;
	return 0;
}

struct value *graph_value(struct graph *g, size_t n, size_t times)
{
	struct storage *s = g->failed ? NULL : arena_array(&g->arena, 1, sizeof *s);

	if (!s || columns_room(g, s) < 0) {
		graph_fail(g);
		return &g->nothing;
	}
	s->width = n;
	s->times = times;
	s->life.begin = SIZE_MAX;
	s->columns[s->n_columns++] = (struct columns){ 0, n, GRAPH_NO_OP, 0 };
	s->next = g->storages;
	g->storages = s;
	return make(g, s, 0, n);
}

struct value *graph_part(struct graph *g, const struct value *v, size_t column, size_t n)
{
	struct value *part;

	if (g->failed)
		return &g->nothing;
	if (column + n > v->n) {
		g->failed = why(g->w, "after op %s: a part of %zu elements from %zu on, of a value of %zu",
			op_name(g, n_ops(g) - 1), n, column, v->n);
		return &g->nothing;
	}
	part = make(g, v->in, v->column + column, n);
	part->since = v->since;
	return part;
}

struct value *graph_columns(struct graph *g, struct storage *in, size_t column, size_t n)
{
	return make(g, in, column, n);
}

static struct packed *pack(struct graph *g, struct value *v, size_t k)
{
	struct packed *p = graph_memory(g, sizeof *p);

	if (!p)
		return NULL;
	*p = (struct packed){ .k = k, .value = v };
	v->packed = p;
	v->next = g->packed;
	g->packed = v;
	return p;
}

struct packed *graph_packed(struct graph *g, struct value *v)
{
	return v->packed ? v->packed : pack(g, v, v->n);
}

struct packed *graph_packed_apart(struct graph *g, size_t k, size_t n, size_t used)
{
	struct packed *p = pack(g, make(g, NULL, 0, 0), k);

	if (!p)
		return NULL;
	p->experts = n;
	p->used = used;
	for (int kind = 0; kind < ACTS_KINDS; kind++)
		p->by_expert[kind] = graph_memory(g, n * sizeof *p->by_expert[kind]);
	return p;
}

void graph_routing(struct graph *g, struct routing *r)
{
	r->value = make(g, NULL, 0, 0);
}

/* ---- what an op uses ---- */

struct recorder {
	struct uses uses;
	struct graph *g;
	int op;
};

static void refuse(struct recorder *r, const char *what, const struct value *v, const char *by)
{
	r->g->failed = why(r->g->w, "op %s: %s (%zu elements from %zu on of rows of %zu%s%s)",
		op_name(r->g, r->op), what, v->n, v->column, v->in->width, by ? ", by op " : "", by ? by : "");
}

void graph_link(struct graph *g, struct link l)
{
	if (g->links == g->link_room && grow(&g->link, &g->link_room, sizeof *g->link, 256) < 0)
		graph_fail(g);
	else
		g->link[g->links++] = l;
}

/* Links the op to the makers of columns [from, to). FILL: of those that have been made. */
static void read_columns(struct recorder *r, const struct value *v, size_t from, size_t to, enum use use)
{
	const struct storage *s = v->in;

	for (const struct columns *x = s->columns; x < s->columns + s->n_columns && !r->g->failed; x++) {
		if (x->to <= from || x->from >= to || x->made == r->op)
			continue;
		if (x->made == GRAPH_NO_OP && use == USE_FILL)
			continue;
		if (x->made == GRAPH_NO_OP)
			refuse(r, "reads what nothing has made", v, NULL);
		else if (use != USE_FILL && (x->spoilt || x->made > v->since))
			refuse(r, "reads what has been overwritten", v, op_name(r->g, x->made));
		else
			graph_link(r->g, (struct link){ .maker = x->made, .reader = r->op, .in = v->in,
				.from = size_max(x->from, from), .to = size_min(x->to, to),
				.all = use == USE_READ_ALL });
	}
}

/* Columns [from, to) are the op's from now on. */
static void write_columns(struct recorder *r, struct storage *s, struct columns own)
{
	struct columns old[2] = { { 0, 0, 0, 0 } };
	size_t first = 0, after;

	if (own.from == own.to || r->g->failed)
		return;
	if (columns_room(r->g, s) < 0) {
		graph_fail(r->g);
		return;
	}
	while (s->columns[first].to <= own.from)
		first++;
	for (after = first; after < s->n_columns && s->columns[after].from < own.to; after++)
		;
	old[0] = s->columns[first];
	old[1] = s->columns[after - 1];
	old[0].to = own.from;
	old[1].from = own.to;
	/* replaced by what is left of the first one, the op's own, and what is left of the last one */
	memmove(s->columns + first + (old[0].from < old[0].to) + 1 + (old[1].from < old[1].to), s->columns + after,
		(s->n_columns - after) * sizeof *s->columns);
	s->n_columns += (size_t)(old[0].from < old[0].to) + 1 + (size_t)(old[1].from < old[1].to) - (after - first);
	if (old[0].from < old[0].to)
		s->columns[first++] = old[0];
	s->columns[first++] = own;
	if (old[1].from < old[1].to)
		s->columns[first] = old[1];
}

static void use_rows(struct uses *u, struct buffer *x, size_t n, enum use use)
{
	struct recorder *r = (struct recorder *)u;
	struct value *v = x->value;

	if (!v || r->g->failed)
		return;
	if (n > v->n) {
		refuse(r, "uses more elements than the value has", v, NULL);
		return;
	}
	if (use != USE_MAKE)
		read_columns(r, v, v->column, v->column + n, use);
	if (use == USE_READ || use == USE_READ_ALL || r->g->failed)
		return;
	if (use != USE_SPOIL && v->packed && v->packer != r->op) {
		refuse(r, "changes rows that have been packed", v, NULL);
		return;
	}
	write_columns(r, v->in, (struct columns){ v->column, v->column + n, r->op, use == USE_SPOIL });
	if (use != USE_SPOIL)
		v->since = r->op;
}

/* A use of packed rows or of a routing, all of whose users act on the same rows. */
static void use_together(struct recorder *r, struct value *v, enum use use, const char *what)
{
	if (use == USE_MAKE)
		v->packer = r->op;
	else if (v->packer == GRAPH_NO_OP)
		r->g->failed = why(r->g->w, "op %s: reads %s that nothing has made", op_name(r->g, r->op), what);
	else
		graph_link(r->g, (struct link){ .maker = v->packer, .reader = r->op });
}

static void use_packed(struct uses *u, struct packed **p, const struct buffer *of, enum use use)
{
	struct recorder *r = (struct recorder *)u;

	if (!r->g->failed && (of || *p))
		use_together(r, of ? of->value : (*p)->value, use, "packed rows");
}

static void use_routing(struct uses *u, const struct routing *routing, enum use use)
{
	struct recorder *r = (struct recorder *)u;

	if (routing && !r->g->failed)
		use_together(r, routing->value, use, "a routing");
}

static void record(struct graph *g, int op)
{
	struct recorder r = { { use_rows, use_packed, use_routing }, g, op };
	const struct op *o = &g->plan->op[op];
	char layer[32];

	o->kind->uses(o->bound, &r.uses);
	if (!g->failed || o->layer == OP_NO_LAYER)
		return;
	snprintf(layer, sizeof layer, "layer %zu", o->layer);
	why_in(g->w, layer);
}

int graph_append(struct graph *g, struct op op, const void *bound, size_t size)
{
	struct plan *p = g->plan;
	size_t room = g->op_room;

	op.bound = graph_memory(g, size);
	if (!g->failed && p->n_ops == room && (grow(&g->absent, &room, sizeof *g->absent, 64) < 0
	    || grow(&p->op, &g->op_room, sizeof *p->op, 64) < 0))
		graph_fail(g);
	if (g->failed)
		return GRAPH_NO_OP;
	memcpy(op.bound, bound, size);
	p->op[p->n_ops] = op;
	g->absent[p->n_ops++] = g->now_absent;
	record(g, n_ops(g) - 1);
	return g->failed ? GRAPH_NO_OP : n_ops(g) - 1;
}

void graph_again(struct graph *g, int op)
{
	if (!g->failed)
		record(g, op);
}

void graph_keep(struct graph *g, struct buffer *x)
{
	struct kept_rows *kept = g->failed ? NULL : arena_array(&g->arena, 1, sizeof *kept);

	if (!kept) {
		graph_fail(g);
		return;
	}
	*kept = (struct kept_rows){ x, g->kept };
	g->kept = kept;
}

void graph_read(struct graph *g, struct buffer *x, size_t n, int all)
{
	struct recorder r = { { use_rows, use_packed, use_routing }, g, GRAPH_END };

	use_rows(&r.uses, x, n, all ? USE_READ_ALL : USE_READ);
	graph_keep(g, x);
}
