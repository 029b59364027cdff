/* An automaton as rules: a state that several others lead to has one of its own, the others are written where they are
 * used. */
#include "language.h"

#include <stdlib.h>
#include <string.h>

enum { INLINE_DEPTH = 6 };

struct writing {
	struct converter *c;
	const struct automaton *a;
	char *shared;                   /* by state: several others lead to it, so it needs a rule */
	struct gbnf_rule **rule;        /* by state: NULL, or the rule; those queued must still be defined */
	uint32_t *queue;
	uint32_t queued;
};

struct way {                            /* all arcs from a state to another */
	struct points set;
	uint32_t to;
};

/* The arcs from a state to others as ways, by number of arc; returns how many. loop: those to itself. */
static size_t ways_from(struct writing *x, uint32_t state, struct way **out, struct points *loop)
{
	const struct automaton_state *s = &x->a->state[state];
	struct way *way = calloc(s->n + 1, sizeof *way);
	size_t n = 0, k;

	*loop = (struct points){ 0 };
	for (uint32_t i = 0; way && i < s->n; i++) {
		const struct automaton_arc *arc = &x->a->arc[s->arc + i];

		for (k = 0; k < n && way[k].to != arc->to; k++)
			;
		if (points_add(arc->to == state ? loop : &way[k].set, arc->first, arc->last))
			schema_no_memory(x->c);
		way[k].to = arc->to;
		n += k == n && arc->to != state;
	}
	if (!way)
		schema_no_memory(x->c);
	*out = way;
	return way ? n : 0;
}

static struct gbnf_expr *write_set(struct writing *x, struct points *set)
{
	if (points_settle(set, 0))
		schema_no_memory(x->c);
	return schema_characters(x->c, set);
}

static void free_ways(struct way *way, size_t n, struct points *loop)
{
	for (size_t k = 0; k < n; k++)
		points_free(&way[k].set);
	free(way);
	points_free(loop);
}

static int is_final(const struct writing *x, uint32_t state)
{
	return x->a->state[state].accepts && !x->a->state[state].n;
}

static int are_equal(const struct points *a, const struct points *b)
{
	if (a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (a->range[i].first != b->range[i].first || a->range[i].last != b->range[i].last)
			return 0;
	return 1;
}

/* Whether `state` accepts as `like` does and has all its ways but way[w], and no other. If it also has one by the
 * characters of way[w], that leads to *next. 0: it has not; -1: it differs. */
static int goes_on(struct writing *x, uint32_t state, uint32_t like, const struct way *way, size_t n, size_t w,
	uint32_t *next)
{
	struct points loop;
	struct way *own;
	size_t owns = ways_from(x, state, &own, &loop), same = 0;
	int answer = loop.n || x->a->state[state].accepts != x->a->state[like].accepts ? -1 : 0;

	for (size_t i = 0; i < owns && answer >= 0; i++) {
		size_t k = 0;

		while (k < n && (k == w || way[k].to != own[i].to || !are_equal(&way[k].set, &own[i].set)))
			k++;
		same += k < n;
		if (k < n)
			continue;
		answer = answer || !are_equal(&way[w].set, &own[i].set) ? -1 : 1;
		*next = own[i].to;
	}
	free_ways(own, owns, &loop);
	return same == n - 1 ? answer : -1;
}

/* If after up to so many characters of way[w] the same may follow, and then no more of them: how many. Or else 0. */
static uint32_t optional_run(struct writing *x, uint32_t state, const struct way *way, size_t n, size_t w)
{
	uint32_t at = way[w].to;
	int more = 1;

	for (uint32_t count = 1; count <= x->a->n; count++) {
		more = goes_on(x, at, state, way, n, w, &at);
		if (more <= 0)
			return more ? 0 : count;
	}
	return 0;
}

/* How many characters of one kind must follow each other from a state on, up to *to. */
static uint32_t fixed_run(struct writing *x, uint32_t state, const struct way *way, uint32_t *to)
{
	uint32_t n = 1, next;

	*to = way->to;
	while (!x->shared[*to] && goes_on(x, *to, state, way, 1, 0, &next) > 0) {
		*to = next;
		n++;
	}
	return n;
}

static struct gbnf_expr *write_use(struct writing *x, uint32_t state)
{
	if (!x->rule[state]) {
		x->rule[state] = gbnf_rule(&x->c->g, x->c->path->name, x->c->path->n, NULL);
		x->queue[x->queued++] = state;
	}
	return gbnf_use(&x->c->g, x->rule[state]);
}

static struct gbnf_expr *write_state(struct writing *x, uint32_t state, int depth);

static struct gbnf_expr *write_next(struct writing *x, uint32_t state, int depth)
{
	return is_final(x, state) ? gbnf_sequence(&x->c->g)
		: x->shared[state] || depth == INLINE_DEPTH ? write_use(x, state) : write_state(x, state, depth + 1);
}

/* What may follow by all ways but number `without`. */
static struct gbnf_expr *write_ways(struct writing *x, uint32_t state, struct way *way, size_t n, size_t without,
	int depth)
{
	struct gbnf *g = &x->c->g;
	struct gbnf_expr *out = gbnf_alternatives(g);

	for (size_t k = 0; k < n; k++)
		if (k != without)
			gbnf_add(g, out, gbnf_join(g, "%%", write_set(x, &way[k].set), write_next(x, way[k].to,
				depth)));
	return x->a->state[state].accepts ? gbnf_repeat(g, out, 0, 1) : out;
}

/* What is accepted from a state on. */
static struct gbnf_expr *write_state(struct writing *x, uint32_t state, int depth)
{
	struct gbnf *g = &x->c->g;
	struct gbnf_expr *out = gbnf_sequence(g);
	struct points loop;
	struct way *way;
	size_t n = ways_from(x, state, &way, &loop), w = 0;
	uint32_t count = 0, to;

	if (loop.n)
		gbnf_add(g, out, gbnf_repeat(g, write_set(x, &loop), 0, GBNF_FOREVER));
	while (!loop.n && w < n && !(count = optional_run(x, state, way, n, w)))
		w++;
	if (count) {
		gbnf_add(g, out, gbnf_repeat(g, write_set(x, &way[w].set), 0, count));
		gbnf_add(g, out, write_ways(x, state, way, n, w, depth));
	} else if (n == 1 && !loop.n && !x->a->state[state].accepts) {
		count = fixed_run(x, state, way, &to);
		gbnf_add(g, out, gbnf_repeat(g, write_set(x, &way->set), count, count));
		gbnf_add(g, out, write_next(x, to, depth));
	} else if (n) {
		gbnf_add(g, out, write_ways(x, state, way, n, n, depth));
	}
	free_ways(way, n, &loop);
	return out;
}

static void find_shared(struct writing *x)
{
	uint32_t *from = calloc(x->a->n + 1, sizeof *from);     /* a state that leads there, plus 1 */

	if (!from) {
		schema_no_memory(x->c);
		return;
	}
	from[0] = UINT32_MAX;
	for (uint32_t s = 0; s < x->a->n; s++)
		for (uint32_t i = 0; i < x->a->state[s].n; i++) {
			uint32_t to = x->a->arc[x->a->state[s].arc + i].to;

			x->shared[to] |= to != s && from[to] && from[to] != s + 1;
			from[to] = to == s ? from[to] : s + 1;
		}
	free(from);
}

struct gbnf_expr *language_write(struct converter *c, struct workshop *w, const struct automaton *a)
{
	struct writing x = { .c = c, .a = a };
	struct gbnf_expr *out = gbnf_never();

	if (language_failed(c, w) || c->failed || !a->n)
		return out;
	x.shared = arena_array(&w->arena, a->n, 1);
	x.rule = arena_array(&w->arena, a->n, sizeof *x.rule);
	x.queue = arena_array(&w->arena, a->n, sizeof *x.queue);
	if (!x.shared || !x.rule || !x.queue) {
		schema_no_memory(c);
		return out;
	}
	find_shared(&x);
	out = write_next(&x, 0, 0);
	for (uint32_t i = 0; i < x.queued && !c->failed; i++)
		gbnf_define(&c->g, x.rule[x.queue[i]], write_state(&x, x.queue[i], 0));
	return out;
}
