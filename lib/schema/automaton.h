/* automaton: deterministic finite automata over code points, for what patterns, lengths, formats and names of
 * properties have in common or exclude. Private to lib/schema. An automaton is borrowed from its workshop. */
#ifndef SCHEMA_AUTOMATON_H
#define SCHEMA_AUTOMATON_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/bytes.h"
#include "lib/base/slots.h"
#include "lib/grammar/class.h"

struct automaton {                      /* begins in state 0; with no states, nothing is accepted */
	struct automaton_state {
		uint32_t arc, n;        /* its arcs: arc[arc..arc + n), by first, disjoint; elsewhere it rejects */
		int accepts;
	} *state;
	struct automaton_arc {
		uint32_t first, last, to;
	} *arc;
	uint32_t n, n_arcs;
};

struct workshop {                       /* starts as { .arena.limit = N } */
	struct arena arena;
	int failed;             /* out of memory, or an automaton is too large; then all automata are NULL */
};

enum automaton_operation { AUTOMATON_AND, AUTOMATON_OR, AUTOMATON_AND_NOT };

const struct automaton *automaton_combine(struct workshop *w, const struct automaton *a,
	enum automaton_operation operation, const struct automaton *b);

/* All texts; all of min to max characters (max UINT32_MAX: no bound). */
const struct automaton *automaton_any(struct workshop *w, uint32_t min, uint32_t max);

/* An equal one with as few states as possible, without those from which nothing is accepted. */
const struct automaton *automaton_minimise(struct workshop *w, const struct automaton *a);

/* Whether it accepts s[n], which is UTF-8. */
int automaton_accepts(const struct automaton *a, const char *s, size_t n);

/* ---- making one state by state ---- */

/* States are known by keys, any bytes. Expand them in order:
 *
 *	for (builder_state(&b, start, n); builder_next(&b, &key, &n); builder_end(&b, accepts))
 *		builder_arc(&b, first, last, builder_state(&b, other, m));
 *	return builder_finish(&b);
 */
struct builder {                        /* starts as { .w = w } */
	struct workshop *w;
	struct automaton_state *state;
	size_t n, room, done;
	struct automaton_arc *arc;
	size_t n_arcs, arc_room;
	struct bytes keys;
	struct builder_key {
		size_t at, n;
	} *key;                         /* [n] */
	size_t key_room;
	struct slots slots;
};

uint32_t builder_state(struct builder *b, const void *key, size_t n);
int builder_next(struct builder *b, const void **key, size_t *n);       /* key[n] is valid until the next state */
void builder_arc(struct builder *b, uint32_t first, uint32_t last, uint32_t to);        /* by first, disjoint */
void builder_end(struct builder *b, int accepts);
const struct automaton *builder_finish(struct builder *b);

/* ---- nondeterministic ones ---- */

struct nfa {                            /* starts as { .w = w } */
	struct workshop *w;
	struct nfa_node {
		const struct points *set;       /* what leads to `to`; NULL: nothing has to be read */
		uint32_t to, or_to;             /* or_to: a second way out if set is NULL */
	} *node;
	size_t n, room;
};

#define NFA_ACCEPT UINT32_MAX           /* where a text is accepted */
#define NFA_NOWHERE (UINT32_MAX - 1)

/* A node; returns its number. It leads to nodes that were made before, unless it is changed later. */
uint32_t nfa_node(struct nfa *f, const struct points *set, uint32_t to, uint32_t or_to);

/* The automaton's texts and then those that lead on from `to`; returns where to begin. */
uint32_t nfa_automaton(struct nfa *f, const struct automaton *a, uint32_t to);

/* The same texts; the nodes are freed. */
const struct automaton *nfa_determinise(struct nfa *f, uint32_t start);

#endif
