/* Nondeterministic automata, and making them deterministic. */
#include <stdlib.h>
#include <string.h>

#include "automaton.h"
#include "lib/base/grow.h"

enum { NODES_MAX = 100000 };

uint32_t nfa_node(struct nfa *f, const struct points *set, uint32_t to, uint32_t or_to)
{
	if (f->n == NODES_MAX || (f->n == f->room && grow(&f->node, &f->room, sizeof *f->node, 64))) {
		f->w->failed = 1;
		return NFA_NOWHERE;
	}
	f->node[f->n] = (struct nfa_node){ set, to, or_to };
	return (uint32_t)f->n++;
}

static const struct points *one_range(struct nfa *f, const struct automaton_arc *arc)
{
	struct points *set = arena_array(&f->w->arena, 1, sizeof *set + sizeof *set->range);

	if (!set) {
		f->w->failed = 1;
		return NULL;
	}
	set->n = 1;
	set->range = (struct points_range *)(set + 1);
	*set->range = (struct points_range){ arc->first, arc->last };
	return set;
}

/* Each state is a node, made first, that gets its ways out in a chain of nodes. */
uint32_t nfa_automaton(struct nfa *f, const struct automaton *a, uint32_t to)
{
	uint32_t first = (uint32_t)f->n;

	if (!a || !a->n)
		return NFA_NOWHERE;
	for (uint32_t s = 0; s < a->n; s++)
		nfa_node(f, NULL, NFA_NOWHERE, NFA_NOWHERE);
	for (uint32_t s = 0; s < a->n && !f->w->failed; s++) {
		uint32_t ways = a->state[s].accepts ? to : NFA_NOWHERE;

		for (uint32_t i = 0; i < a->state[s].n && !f->w->failed; i++) {
			const struct automaton_arc *arc = &a->arc[a->state[s].arc + i];

			ways = nfa_node(f, NULL, nfa_node(f, one_range(f, arc), first + arc->to, NFA_NOWHERE), ways);
		}
		if (!f->w->failed)
			f->node[first + s].to = ways;
	}
	return first;
}

/* ---- making it deterministic ---- */

struct subset {                         /* of nodes */
	const struct nfa *f;
	uint32_t *node;                 /* [n], those with a set, by number; NFA_ACCEPT last */
	size_t n;
	char *seen;                     /* [f->n + 1], by node; the last one for NFA_ACCEPT */
	uint32_t *stack;
};

static void reach(struct subset *s, uint32_t node)
{
	size_t place = node == NFA_ACCEPT ? s->f->n : node, depth = 0;

	if (node == NFA_NOWHERE || s->seen[place])
		return;
	s->seen[place] = 1;
	s->stack[depth++] = node;
	while (depth) {
		const struct nfa_node *x;

		node = s->stack[--depth];
		x = node == NFA_ACCEPT ? NULL : &s->f->node[node];
		if (!x || x->set) {
			s->node[s->n++] = node;
			continue;
		}
		for (int i = 0; i < 2; i++) {
			uint32_t to = i ? x->to : x->or_to;

			place = to == NFA_ACCEPT ? s->f->n : to;
			if (to == NFA_NOWHERE || s->seen[place])
				continue;
			s->seen[place] = 1;
			s->stack[depth++] = to;
		}
	}
}

static int by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static uint32_t state_of(struct builder *b, struct subset *s)
{
	uint32_t state;

	qsort(s->node, s->n, sizeof *s->node, by_number);
	state = builder_state(b, s->node, s->n * sizeof *s->node);
	s->n = 0;
	memset(s->seen, 0, s->f->n + 1);
	return state;
}

/* The places where a set of one of the nodes begins, or ends before; sorted. Returns how many. -1: out of memory. */
static int64_t borders(const struct nfa *f, const uint32_t *node, size_t n, uint32_t **at, size_t *room)
{
	size_t many = 0, kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct points *set = node[i] == NFA_ACCEPT ? NULL : f->node[node[i]].set;

		for (size_t k = 0; set && k < set->n; k++) {
			while (many + 2 > *room)
				if (grow(at, room, sizeof **at, 256))
					return -1;
			(*at)[many++] = set->range[k].first;
			(*at)[many++] = set->range[k].last + 1;
		}
	}
	if (many)
		qsort(*at, many, sizeof **at, by_number);
	for (size_t i = 0; i < many; i++)
		if (!i || (*at)[i] != (*at)[i - 1])
			(*at)[kept++] = (*at)[i];
	return (int64_t)kept;
}

static int has(const struct points *set, uint32_t point)
{
	size_t from = 0, to = set->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (set->range[middle].last < point)
			from = middle + 1;
		else
			to = middle;
	}
	return from < set->n && set->range[from].first <= point;
}

static void explore(struct builder *b, struct subset *s, uint32_t start)
{
	const struct nfa *f = s->f;
	uint32_t *at = NULL, *nodes = NULL;
	size_t room = 0, nodes_room = 0, n;
	const void *key;
	int64_t many;
	int accepts;

	reach(s, start);
	for (state_of(b, s); builder_next(b, &key, &n); builder_end(b, accepts)) {
		if (grow_scratch(&nodes, &nodes_room, n) || (many = borders(f, key, n / sizeof *nodes, &at,
			&room)) < 0) {
			b->w->failed = 1;
			break;
		}
		if (n)
			memcpy(nodes, key, n);
		n /= sizeof *nodes;
		accepts = n && nodes[n - 1] == NFA_ACCEPT;
		n -= (size_t)accepts;
		for (int64_t i = 0; i + 1 < many && !b->w->failed; i++) {
			for (size_t k = 0; k < n; k++)
				if (has(f->node[nodes[k]].set, at[i]))
					reach(s, f->node[nodes[k]].to);
			if (s->n)
				builder_arc(b, at[i], at[i + 1] - 1, state_of(b, s));
			else
				memset(s->seen, 0, f->n + 1);
		}
	}
	free(at);
	free(nodes);
}

const struct automaton *nfa_determinise(struct nfa *f, uint32_t start)
{
	struct builder b = { .w = f->w };
	struct subset s = { .f = f, .node = calloc(f->n + 1, sizeof *s.node), .seen = calloc(f->n + 1, 1),
		.stack = calloc(f->n + 1, sizeof *s.stack) };

	if (!s.node || !s.seen || !s.stack)
		f->w->failed = 1;
	else if (!f->w->failed)
		explore(&b, &s, start);
	free(s.node);
	free(s.seen);
	free(s.stack);
	free(f->node);
	*f = (struct nfa){ .w = f->w };
	return builder_finish(&b);
}
