/* Building, combining and minimising automata. Each construction explores states from the first one on: subsets of
 * nodes, pairs of states, or classes of states. */
#include "automaton.h"

#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "lib/base/grow.h"
#include "lib/base/utf8.h"

enum {
	STATES_MAX = 20000,
	ARCS_MAX = 400000,
	MINIMISED_MAX = 4000,           /* states; larger ones stay as they are, for the time this takes */
	LAST = 0x10ffff
};
static const uint32_t nowhere = UINT32_MAX;     /* a state that accepts nothing */

/* ---- state by state ---- */

static void *too_large(struct workshop *w)
{
	w->failed = 1;
	return NULL;
}

uint32_t builder_state(struct builder *b, const void *key, size_t n)
{
	uint32_t hash = (uint32_t)index_hash(n, key, n);
	struct slot *s;

	if (b->w->failed || slots_reserve(&b->slots)) {
		too_large(b->w);
		return 0;
	}
	for (s = slots_first(&b->slots, hash); s->index; s = slots_next(&b->slots, s)) {
		const struct builder_key *k = &b->key[s->index - 1];

		if (s->hash == hash && k->n == n && !memcmp(b->keys.p + k->at, key, n))
			return s->index - 1;
	}
	if (b->n == STATES_MAX || (b->n == b->room && grow(&b->state, &b->room, sizeof *b->state, 64))
		|| (b->n == b->key_room && grow(&b->key, &b->key_room, sizeof *b->key, 64))) {
		too_large(b->w);
		return 0;
	}
	b->keys.limit = (size_t)1 << 28;
	b->key[b->n] = (struct builder_key){ b->keys.n, n };
	b->state[b->n] = (struct automaton_state){ 0 };
	if (bytes_put(&b->keys, key, n))
		too_large(b->w);
	slots_put(&b->slots, s, hash, (uint32_t)b->n);
	return (uint32_t)b->n++;
}

int builder_next(struct builder *b, const void **key, size_t *n)
{
	if (b->w->failed || b->done == b->n)
		return 0;
	b->state[b->done].arc = (uint32_t)b->n_arcs;
	*key = b->keys.p + b->key[b->done].at;
	*n = b->key[b->done].n;
	return 1;
}

void builder_arc(struct builder *b, uint32_t first, uint32_t last, uint32_t to)
{
	struct automaton_arc *before = b->n_arcs > b->state[b->done].arc ? &b->arc[b->n_arcs - 1] : NULL;

	if (before && before->to == to && before->last + 1 == first) {
		before->last = last;
		return;
	}
	if (b->n_arcs == ARCS_MAX || (b->n_arcs == b->arc_room && grow(&b->arc, &b->arc_room, sizeof *b->arc, 256))) {
		too_large(b->w);
		return;
	}
	b->arc[b->n_arcs++] = (struct automaton_arc){ first, last, to };
}

void builder_end(struct builder *b, int accepts)
{
	struct automaton_state *s = &b->state[b->done++];

	s->n = (uint32_t)b->n_arcs - s->arc;
	s->accepts = accepts;
}

const struct automaton *builder_finish(struct builder *b)
{
	struct workshop *w = b->w;
	struct automaton *a = w->failed ? NULL : arena_array(&w->arena, 1, sizeof *a);

	if (a) {
		a->n = (uint32_t)b->n;
		a->n_arcs = (uint32_t)b->n_arcs;
		a->state = arena_array(&w->arena, b->n + 1, sizeof *a->state);
		a->arc = arena_array(&w->arena, b->n_arcs + 1, sizeof *a->arc);
	}
	if (a && a->state && a->arc) {
		if (b->n)
			memcpy(a->state, b->state, b->n * sizeof *a->state);
		if (b->n_arcs)
			memcpy(a->arc, b->arc, b->n_arcs * sizeof *a->arc);
	} else {
		a = too_large(w);
	}
	free(b->state);
	free(b->arc);
	free(b->key);
	free(b->slots.slot);
	bytes_free(&b->keys);
	return a;
}

const struct automaton *automaton_any(struct workshop *w, uint32_t min, uint32_t max)
{
	struct builder b = { .w = w };
	uint32_t top = max == UINT32_MAX ? min : max, i = 0;
	const void *key;
	size_t n;

	for (builder_state(&b, &i, sizeof i); builder_next(&b, &key, &n); builder_end(&b, i >= min)) {
		uint32_t next;

		memcpy(&i, key, sizeof i);
		next = i + (i < top);
		if (i < top || max == UINT32_MAX)
			builder_arc(&b, 0, LAST, builder_state(&b, &next, sizeof next));
	}
	return builder_finish(&b);
}

/* ---- pairs of states ---- */

static int accepts(const struct automaton *a, uint32_t state)
{
	return state != nowhere && a->state[state].accepts;
}

/* Where point leads from a state, and in *last how far that is so. */
static uint32_t follow(const struct automaton *a, uint32_t state, uint32_t point, uint32_t *last)
{
	const struct automaton_arc *arc = state == nowhere ? NULL : a->arc + a->state[state].arc;
	uint32_t n = arc ? a->state[state].n : 0, from = 0, to = n;

	while (from < to) {             /* the first arc that ends at the point or past it */
		uint32_t middle = from + (to - from) / 2;

		if (arc[middle].last < point)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == n) {
		*last = LAST;
		return nowhere;
	}
	*last = arc[from].first <= point ? arc[from].last : arc[from].first - 1;
	return arc[from].first <= point ? arc[from].to : nowhere;
}

const struct automaton *automaton_combine(struct workshop *w, const struct automaton *a,
	enum automaton_operation operation, const struct automaton *b)
{
	struct builder x = { .w = w };
	uint32_t pair[2] = { 0, 0 };
	const void *key;
	size_t n;
	int in_a = 0, in_b = 0;

	if (!a || !b)
		return too_large(w);
	pair[0] = a->n ? 0 : nowhere;
	pair[1] = b->n ? 0 : nowhere;
	builder_state(&x, pair, sizeof pair);
	for (; builder_next(&x, &key, &n); builder_end(&x, operation == AUTOMATON_AND ? in_a && in_b
			: operation == AUTOMATON_OR ? in_a || in_b : in_a && !in_b)) {
		uint32_t last_a, last_b, last;

		memcpy(pair, key, sizeof pair);
		in_a = accepts(a, pair[0]);
		in_b = accepts(b, pair[1]);
		for (uint32_t point = 0; point <= LAST; point = last + 1) {
			uint32_t to[] = { follow(a, pair[0], point, &last_a), follow(b, pair[1], point, &last_b) };

			last = last_a < last_b ? last_a : last_b;
			if ((to[0] != nowhere || operation == AUTOMATON_OR)
				&& (to[1] != nowhere || operation != AUTOMATON_AND)
				&& (to[0] != nowhere || to[1] != nowhere))
				builder_arc(&x, point, last, builder_state(&x, to, sizeof to));
		}
	}
	return builder_finish(&x);
}

/* ---- minimising ---- */

/* Marks the states from which something is accepted. In the order of states few rounds are needed. */
static void find_live(const struct automaton *a, char *live)
{
	for (int changed = 1; changed; ) {
		changed = 0;
		for (uint32_t s = a->n; s-- > 0; ) {
			int any = a->state[s].accepts;

			for (uint32_t i = 0; i < a->state[s].n && !live[s] && !any; i++)
				any = live[a->arc[a->state[s].arc + i].to];
			changed |= any && !live[s];
			live[s] |= (char)any;
		}
	}
}

/* Appends the arcs of a state that lead to live ones, as {first, last, class}. */
static void put_arcs(struct bytes *out, const struct automaton *a, uint32_t state, const char *live,
	const uint32_t *class)
{
	uint32_t arc[3], n = 0;

	for (uint32_t i = 0; i < a->state[state].n; i++) {
		const struct automaton_arc *x = &a->arc[a->state[state].arc + i];

		if (!live[x->to])
			continue;
		if (n && arc[2] == class[x->to] && arc[1] + 1 == x->first) {
			arc[1] = x->last;
			continue;
		}
		if (n++)
			bytes_put(out, (char *)arc, sizeof arc);
		arc[0] = x->first;
		arc[1] = x->last;
		arc[2] = class[x->to];
	}
	if (n)
		bytes_put(out, (char *)arc, sizeof arc);
}

/* Splits the classes by where their states lead; returns how many there are then. */
static size_t refine(struct workshop *w, const struct automaton *a, const char *live, const uint32_t *class,
	uint32_t *next)
{
	struct builder classes = { .w = w };
	struct bytes key = { .limit = SIZE_MAX };
	size_t n;

	for (uint32_t s = 0; s < a->n && !w->failed; s++) {
		if (!live[s])
			continue;
		key.n = 0;
		bytes_put(&key, (const char *)&class[s], sizeof class[s]);
		put_arcs(&key, a, s, live, class);
		w->failed |= key.failed;
		next[s] = w->failed ? 0 : builder_state(&classes, key.p, key.n);
	}
	n = classes.n;
	builder_finish(&classes);
	bytes_free(&key);
	return n;
}

/* The automaton of classes. A class is known by one of its states. */
static const struct automaton *of_classes(struct workshop *w, const struct automaton *a, const char *live,
	const uint32_t *class, const uint32_t *member)
{
	struct builder b = { .w = w };
	const void *key;
	uint32_t s = 0;
	size_t n;

	if (a->n && live[0])
		builder_state(&b, &member[class[0]], sizeof *member);
	for (; builder_next(&b, &key, &n); builder_end(&b, a->state[s].accepts)) {
		memcpy(&s, key, sizeof s);
		for (uint32_t i = 0; i < a->state[s].n; i++) {
			const struct automaton_arc *x = &a->arc[a->state[s].arc + i];

			if (live[x->to])
				builder_arc(&b, x->first, x->last,
					builder_state(&b, &member[class[x->to]], sizeof *member));
		}
	}
	return builder_finish(&b);
}

const struct automaton *automaton_minimise(struct workshop *w, const struct automaton *a)
{
	uint32_t *class = a ? calloc(3 * (size_t)a->n + 1, sizeof *class) : NULL, *next = class ? class + a->n : NULL;
	uint32_t *member = next ? next + a->n : NULL;
	char *live = a ? calloc(a->n + 1, 1) : NULL;
	size_t n = 1, before = 0;

	if (!class || !live) {
		free(class);
		free(live);
		return too_large(w);
	}
	find_live(a, live);
	for (uint32_t s = 0; s < a->n; s++)
		class[s] = a->n > MINIMISED_MAX ? s : (uint32_t)a->state[s].accepts;
	while (n != before && a->n <= MINIMISED_MAX && !w->failed) {
		before = n;
		n = refine(w, a, live, class, next);
		memcpy(class, next, a->n * sizeof *class);
	}
	for (uint32_t s = 0; s < a->n; s++)
		if (live[s])
			member[class[s]] = s;
	a = w->failed ? NULL : of_classes(w, a, live, class, member);
	free(class);
	free(live);
	return a;
}

int automaton_accepts(const struct automaton *a, const char *s, size_t n)
{
	uint32_t state = a->n ? 0 : nowhere, last;
	unsigned used;

	for (; n && state != nowhere; s += used, n -= used)
		state = follow(a, state, (uint32_t)utf8_next(s, n, &used), &last);
	return accepts(a, state);
}
