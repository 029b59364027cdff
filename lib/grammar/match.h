/* match: a grammar as an automaton over symbols (node.h), whose states are made on demand. Private to lib/grammar.
 *
 * A state says what may follow: nothing (END); a frame, which is a node and the state after it; or a union of
 * these. States are interned, so equal states have one number. A state is thus a stack of what is still open, and
 * where stacks of different derivations meet they share the rest: all derivations of an ambiguous grammar are
 * followed at once. In one step each rule is entered once, for all its callers, and callers are handled before
 * what they call (struct grammar_rule.rank); for that reason left recursion is refused. Repetitions keep the range of
 * rounds to come in their frames, and a union joins the frames of one node (union.c), so that it stays small however
 * many ways there are to count the text.
 *
 * For input of at most n bytes a count above n is as good as no bound. near[k] of a state is the state in which
 * all counts above matcher.reach[k] have no bound. Input of up to that length may be tried from there, and all
 * states that differ in large counts only have it in common. */
#ifndef GRAMMAR_MATCH_H
#define GRAMMAR_MATCH_H

#include "node.h"

enum { STATE_DEAD = 0, STATE_END = 1 };
#define KINDS_KNOWN ((uint64_t)1 << 63)
#define STATE_NONE UINT32_MAX           /* a failure: see matcher.fault */
#define STATE_UNION UINT32_MAX          /* in place of a node */

enum { MATCHER_NEAR = 2 };

enum matcher_fault {
	MATCHER_FULL = 1,       /* the tables are full: call matcher_flush() and try again */
	MATCHER_LIMIT,          /* one step takes more work, or more states at once, than is allowed */
	MATCHER_MEMORY
};

struct state {
	uint32_t node;          /* a frame's, or STATE_UNION */
	uint32_t low, high;     /* NODE_REPEAT: rounds to come, at least 1; union: first of members[], count */
	uint32_t next;          /* a frame's: what comes after it; DEAD if low is without bound */
	uint32_t merged;        /* a union's: the state of equal meaning in which frames are merged; 0: not computed */
	uint32_t near[MATCHER_NEAR];
	uint32_t entered;       /* the last step that expanded this frame */
	uint64_t kinds;         /* kinds.c's: the kinds (trie.h) that lead to `usual`; KINDS_KNOWN once computed */
	uint32_t usual;
	uint32_t row;           /* index in rows[] of the states after each class of symbols, plus 1; 0: not computed */
};

struct held_state {             /* a state that matcher_flush() must keep */
	struct held_state *older, *newer;
	uint32_t state;
};

struct transition {             /* a symbol of classes first to last leads to next */
	uint32_t first, last, next;
};

struct uint_list {
	uint32_t *at, n;
	size_t room;
};

struct matcher {
	const struct grammar *g;
	uint32_t reach[MATCHER_NEAR];   /* bytes, ascending; set before the first state is made */
	enum matcher_fault fault;
	uint64_t steps, steps_max;      /* work done and allowed; the caller resets steps when an operation begins */
	struct state *state;
	uint32_t n;
	size_t room;
	struct slots slots;             /* of states, except DEAD and END */
	struct uint_list members, rows; /* of all unions and rows */
	struct held_state *held;

	/* private to one step */
	uint32_t step;                  /* its number */
	struct transition *transition;
	uint32_t n_transitions;
	size_t transition_room;
	struct uint_list gather;        /* a union in the making */
	unsigned merging;               /* unions in the making, each after a frame of another */
	struct uint_list calls;         /* pairs: a state to return to; the index of the rule's previous pair, plus 1 */
	uint32_t *called;               /* [n_rules] by rank: index of the last pair, plus 1 */
	uint64_t *waiting;              /* a bit for each rank: called and not yet entered */
};

/* Borrows the grammar. A reach of 0 leaves near[] equal to the state. -1: no memory. */
int matcher_open(struct matcher *m, const struct grammar *g, const uint32_t reach[MATCHER_NEAR], struct why *w);
void matcher_close(struct matcher *m);

/* The state at the start of a text. */
uint32_t matcher_start(struct matcher *m);

/* Makes sure that a state has its row, which is rows.at[state.row - 1 + class]; making another row may move it. -1: the
 * fault is set. */
int matcher_row(struct matcher *m, uint32_t state);

/* The state after s[n] from `state`; STATE_DEAD: s is not allowed; STATE_NONE: the fault is set. */
uint32_t matcher_walk(struct matcher *m, uint32_t state, const char *s, size_t n);

/* The state after a whole token from `state`, regardless of its text. number: that of a token that the grammar names,
 * or the count of these for any other token. Returns the same values. */
uint32_t matcher_token(struct matcher *m, uint32_t state, uint32_t number);

/* The state that allows what x or y allows, each as these return it. */
uint32_t matcher_either(struct matcher *m, uint32_t x, uint32_t y);

/* Whether the text may end here. */
int matcher_ends(const struct matcher *m, uint32_t state);

/* Keeps a state across matcher_flush(), which updates h->state; until it is released. */
void matcher_hold(struct matcher *m, struct held_state *h, uint32_t state);
void matcher_release(struct matcher *m, struct held_state *h);

/* Forgets all states but those held, which get new numbers. -1: no memory, or hardly anything was freed; the
 * matcher cannot be used any more. */
int matcher_flush(struct matcher *m);

/* ---- making states: state.c, union.c. They return STATE_NONE, -1 or NULL with the fault set ---- */

uint32_t matcher_fail(struct matcher *m, enum matcher_fault fault);     /* sets it; returns STATE_NONE */

/* Extends a list by n elements, which it returns; appends one. */
uint32_t *matcher_list(struct matcher *m, struct uint_list *l, uint32_t n);
int matcher_push(struct matcher *m, struct uint_list *l, uint32_t x);

/* Makes DEAD and END, in empty tables. */
int matcher_make_first(struct matcher *m);

/* The number of the state equal to s; *fresh: it is new, its near[] is itself. */
uint32_t matcher_intern(struct matcher *m, const struct state *s, int *fresh);

/* The frame of a node that is still to come `low` to `high` times, and then the state `next`. */
uint32_t matcher_frame(struct matcher *m, uint32_t node, uint32_t low, uint32_t high, uint32_t next);

/* A union in the making: matcher_gather() appends the members of a state to m->gather; matcher_unite() removes what was
 * appended since it had `mark` elements and makes it one state. */
int matcher_gather(struct matcher *m, uint32_t state);
uint32_t matcher_unite(struct matcher *m, uint32_t mark);

/* Whether the tables are so full that another flush would be due soon. */
int matcher_half_full(const struct matcher *m);

/* Formats the fault; returns -1. */
int matcher_why(const struct matcher *m, struct why *w);

#endif
