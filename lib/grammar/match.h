/* match: a grammar as an automaton over bytes whose states are made as they are met. Private to lib/grammar.
 *
 * A state says what may come: END, nothing more; a frame, a node and the state after it; or a union of these. States are interned, so equal ones are one
 * number, and a state is at once the stack of what is still open and, where stacks run together, their shared rest: however ambiguous the grammar, all
 * ways of having come to a place are followed together. Within one step a rule is entered once for all who call it, callers before those they call
 * (struct rule.rank), which is why left recursion is refused. Repetitions count in their frames.
 *
 * For one piece of at most n bytes a count above n is as good as none: `near[k]` of a state is the state in which all counts above matcher.reach[k] have
 * become endless. Pieces no longer than that may be tried from there, and states that differ in large counts alone have it in common. */
#ifndef GRAMMAR_MATCH_H
#define GRAMMAR_MATCH_H

#include "priv.h"

enum { STATE_DEAD = 0, STATE_END = 1 };
#define KINDS_KNOWN ((uint64_t)1 << 63)
#define STATE_NONE UINT32_MAX           /* a failure: see matcher.fault */
#define STATE_UNION UINT32_MAX          /* in place of a node */

enum { MATCHER_NEAR = 2 };

enum matcher_fault {
	MATCHER_FULL = 1,       /* the tables are: matcher_flush() and try again */
	MATCHER_LIMIT,          /* more work for one step, or more states at once, than is allowed */
	MATCHER_MEMORY
};

struct state {
	uint32_t node;          /* a frame's, or STATE_UNION */
	uint32_t low, high;     /* a frame of a NODE_REPEAT: how often it is still to come, at least 1; a union: where in members[], how many */
	uint32_t next;          /* a frame's: what comes after it */
	uint32_t near[MATCHER_NEAR];
	uint32_t entered;       /* the last step that this frame's ways on were added in */
	uint64_t kinds;         /* guide.c's: the kinds of characters (trie.h) that all lead to one state, `usual`; KINDS_KNOWN once they were found */
	uint32_t usual;
	uint32_t row;           /* where in rows[] the states after each class of bytes are, plus 1; 0: not yet found */
};

struct place {                  /* a state that someone stands in and matcher_flush() keeps */
	struct place *older, *newer;
	uint32_t state;
};

struct item {                   /* one way on from a state: a byte of classes first to last leads to next */
	uint32_t first, last, next;
};

struct uint_list {
	uint32_t *at;
	uint32_t n, room;
};

struct matcher {
	const struct grammar *g;
	uint32_t reach[MATCHER_NEAR];   /* bytes, ascending; set before the first state is made */
	enum matcher_fault fault;
	uint64_t steps, steps_max;      /* of work; the caller sets the first to 0 where an operation begins */
	struct state *state;
	uint32_t n, room;
	uint32_t *slot, slots;          /* open addressing: states */
	struct uint_list members, rows; /* of all unions and rows */
	struct place *places;

	/* private to one step */
	uint32_t step;                  /* its number */
	struct item *item;
	uint32_t n_items, item_room;
	struct uint_list gather;        /* a union in the making */
	struct uint_list calls;         /* pairs: a state to return to, the pair before it plus 1 */
	uint32_t *called;               /* [n_rules] by rank: the last pair plus 1 */
	uint64_t *waiting;              /* a bit for each rank: called and not yet entered */
};

/* The grammar is borrowed. reach[] of 0 leaves near[] equal to the state. -1: no memory. */
int matcher_open(struct matcher *m, const struct grammar *g, const uint32_t reach[MATCHER_NEAR], struct why *w);
void matcher_close(struct matcher *m);

/* The state at the start of every text. */
uint32_t matcher_start(struct matcher *m);

/* Sees to it that a state has its row; 0, or -1 with the fault. A row is rows.at[state.row - 1 + class]; making another one may move it. */
int matcher_row(struct matcher *m, uint32_t state);

/* The state after s[n] from `state`, STATE_DEAD where nothing goes on, STATE_NONE with the fault. */
uint32_t matcher_walk(struct matcher *m, uint32_t state, const char *s, size_t n);

/* Whether the text may end here. */
int matcher_ends(const struct matcher *m, uint32_t state);

void matcher_enter(struct matcher *m, struct place *p, uint32_t state);
void matcher_leave(struct matcher *m, struct place *p);

/* Forgets all states but those of the places, which get new numbers. -1: no memory, or nothing was gained; m is of no further use then. */
int matcher_flush(struct matcher *m);

/* ---- making states: state.c; they return STATE_NONE, or -1 or NULL, with the fault ---- */

uint32_t matcher_fail(struct matcher *m, enum matcher_fault fault);     /* notes it; returns STATE_NONE */

/* Room for n more numbers at the end of a list, and one number put there. */
uint32_t *matcher_list(struct matcher *m, struct uint_list *l, uint32_t n);
int matcher_push(struct matcher *m, struct uint_list *l, uint32_t x);

/* DEAD and END, in tables that hold nothing yet. */
int matcher_make_first(struct matcher *m);

uint32_t matcher_frame(struct matcher *m, uint32_t node, uint32_t low, uint32_t high, uint32_t next);

/* A union in the making: the members of a state are added to m->gather; what was added since it had `mark` numbers is taken off and made one state. */
int matcher_gather(struct matcher *m, uint32_t state);
uint32_t matcher_unite(struct matcher *m, uint32_t mark);

/* Whether so much is taken that another flush would be due soon. */
int matcher_half_full(const struct matcher *m);

/* The fault as a reason; returns -1. */
int matcher_why(const struct matcher *m, struct why *w);

#endif
