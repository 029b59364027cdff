/* After recording: when values begin and end, and where they are in memory. */
#include "graph.h"

#include <stdlib.h>

#include "fwd/plan/kinds.h"
#include "lib/base/size.h"

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
		graph_choose_ops(g);
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
