/* The transitions between the states of a grammar, and the matcher as a whole. */
#include "match.h"

#include "lib/base/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
	TRANSITIONS_MAX = 1 << 20,      /* transitions from one state */
	STEPS_MAX = 50000000            /* per operation: well under a second */
};

uint32_t matcher_either(struct matcher *m, uint32_t x, uint32_t y)
{
	uint32_t mark = m->gather.n;

	return matcher_gather(m, x) || matcher_gather(m, y) ? STATE_NONE : matcher_unite(m, mark);
}

/* ---- one step: the transitions from a state ---- */

static int add_transition(struct matcher *m, const struct grammar_node *v, uint32_t next)
{
	if (m->n_transitions == m->transition_room) {
		if (m->transition_room >= TRANSITIONS_MAX)
			return (int)matcher_fail(m, MATCHER_LIMIT);
		if (grow(&m->transition, &m->transition_room, sizeof *m->transition, 64))
			return (int)matcher_fail(m, MATCHER_MEMORY);
	}
	m->transition[m->n_transitions++] = (struct transition){ v->a, v->b, next };
	return 0;
}

static int call(struct matcher *m, uint32_t rule, uint32_t next)
{
	uint32_t rank = m->g->rule[rule].rank, pair = m->calls.n;

	if (matcher_push(m, &m->calls, next) || matcher_push(m, &m->calls, m->called[rank]))
		return -1;
	m->called[rank] = pair + 1;
	m->waiting[rank / 64] |= (uint64_t)1 << rank % 64;
	return 0;
}

static uint32_t count_down(uint32_t count)
{
	return count == GRAMMAR_FOREVER ? count : count - 1;
}

/* What follows one round of a repetition. No round is empty, so asking for one more is always possible: low stays
 * at 1. */
static uint32_t again(struct matcher *m, uint32_t node, uint32_t low, uint32_t high, uint32_t next)
{
	uint32_t more;

	if (high == 1)
		return next;
	more = matcher_frame(m, node, low > 1 ? count_down(low) : 1, count_down(high), next);
	return low > 1 ? more : matcher_either(m, more, next);
}

/* The frame of the node with `next` after it. */
static uint32_t ahead(struct matcher *m, uint32_t node, uint32_t next)
{
	const struct grammar_node *v = &m->g->node[node];

	return matcher_frame(m, node, v->kind == NODE_REPEAT && !v->low ? 1 : v->low, v->high, next);
}

/* Whether this step meets the frame for the first time; it need not be expanded twice. */
static int first_time(struct matcher *m, uint32_t state)
{
	if (m->state[state].entered == m->step)
		return 0;
	m->state[state].entered = m->step;
	return 1;
}

/* Adds the transitions of all texts of the node except the empty one, with `next` after them. */
static int expand(struct matcher *m, uint32_t node, uint32_t low, uint32_t high, uint32_t next)
{
	for (;; m->steps++) {
		const struct grammar_node *v = &m->g->node[node];
		uint32_t rest, after;

		if (next == STATE_NONE)
			return -1;
		if (m->steps > m->steps_max)
			return (int)matcher_fail(m, MATCHER_LIMIT);
		switch ((enum node_kind)v->kind) {
		case NODE_EMPTY:
			return 0;
		case NODE_SYMBOLS:
			return add_transition(m, v, next);
		case NODE_RULE:
			return call(m, v->a, next);
		case NODE_ALT:
			if (expand(m, v->a, m->g->node[v->a].low, m->g->node[v->a].high, next))
				return -1;
			node = v->b;
			break;
		case NODE_SEQ:
			rest = ahead(m, v->b, next);
			after = rest != STATE_NONE && m->g->node[v->b].nullable ? matcher_either(m, rest, next) : rest;
			if (after == STATE_NONE || expand(m, v->a, m->g->node[v->a].low, m->g->node[v->a].high, after))
				return -1;
			if (!m->g->node[v->a].nullable || !first_time(m, rest))
				return 0;
			node = v->b;
			break;
		case NODE_REPEAT:
			next = again(m, node, low, high, next);
			node = v->a;
			break;
		}
		low = m->g->node[node].low;
		high = m->g->node[node].high;
	}
}

static int expand_frame(struct matcher *m, uint32_t state)
{
	struct state f = m->state[state];

	return state == STATE_END || !first_time(m, state) ? 0 : expand(m, f.node, f.low, f.high, f.next);
}

/* Enters the rules that were called, in the order of their ranks; a rule calls only rules of higher ranks. */
static int enter_rules(struct matcher *m)
{
	for (uint32_t i = 0; i <= m->g->n_rules / 64; i++)
		while (m->waiting[i]) {
			uint32_t rank = i * 64 + (uint32_t)__builtin_ctzll(m->waiting[i]), mark = m->gather.n;
			uint32_t body = m->g->rule[m->g->by_rank[rank]].body;

			m->waiting[i] &= m->waiting[i] - 1;
			for (uint32_t pair = m->called[rank]; pair; pair = m->calls.at[pair])
				if (matcher_gather(m, m->calls.at[pair - 1]))
					return -1;
			m->called[rank] = 0;
			if (expand(m, body, m->g->node[body].low, m->g->node[body].high, matcher_unite(m, mark)))
				return -1;
		}
	return 0;
}

static int find_transitions(struct matcher *m, uint32_t state)
{
	struct state s = m->state[state];

	m->n_transitions = m->calls.n = 0;
	m->step++;
	if (s.node != STATE_UNION)
		return expand_frame(m, state) ? -1 : enter_rules(m);
	for (uint32_t i = 0; i < s.high; i++)
		if (expand_frame(m, m->members.at[s.low + i]))
			return -1;
	return enter_rules(m);
}

static int by_first(const void *x, const void *y)
{
	const struct transition *a = x, *b = y;

	return (a->first > b->first) - (a->first < b->first);
}

/* Classes between which no transition begins or ends lead to the same state. The transitions that cover the current
 * class are kept in front; one whose last class is past is dropped. */
static int fill_row(struct matcher *m, uint32_t row)
{
	uint8_t edge[SYMBOL_OTHER + 2];
	uint32_t next = STATE_DEAD, kept = 0, at = 0;

	memset(edge, 0, m->g->n_classes + 1);
	edge[0] = 1;
	if (m->n_transitions > 1)
		qsort(m->transition, m->n_transitions, sizeof *m->transition, by_first);
	for (uint32_t i = 0; i < m->n_transitions; i++)
		edge[m->transition[i].first] = edge[m->transition[i].last + 1] = 1;
	for (uint32_t c = 0; c < m->g->n_classes; c++) {
		if (edge[c]) {
			uint32_t n = kept;

			kept = 0;
			for (uint32_t i = 0; i < n; i++)
				if (m->transition[i].last >= c)
					m->transition[kept++] = m->transition[i];
			for (; at < m->n_transitions && m->transition[at].first == c; at++)
				m->transition[kept++] = m->transition[at];
			for (uint32_t i = 0; i < kept; i++)
				if (matcher_gather(m, m->transition[i].next))
					return -1;
			m->steps += n + kept;
			next = matcher_unite(m, 0);
			if (next == STATE_NONE)
				return -1;
		}
		m->rows.at[row + c] = next;
	}
	return 0;
}

/* Cleans up after a step that failed. */
static int abandon(struct matcher *m)
{
	m->gather.n = 0;
	memset(m->waiting, 0, (m->g->n_rules / 64 + 1) * sizeof *m->waiting);
	memset(m->called, 0, m->g->n_rules * sizeof *m->called);
	return -1;
}

int matcher_row(struct matcher *m, uint32_t state)
{
	uint32_t row = m->rows.n;

	if (m->state[state].row)
		return 0;
	if (!matcher_list(m, &m->rows, m->g->n_classes))
		return -1;
	if (state <= STATE_END)
		memset(m->rows.at + row, 0, m->g->n_classes * sizeof *m->rows.at);
	else if (find_transitions(m, state) || fill_row(m, row))
		return abandon(m);
	m->state[state].row = row + 1;
	return 0;
}

uint32_t matcher_walk(struct matcher *m, uint32_t state, const char *s, size_t n)
{
	for (size_t i = 0; i < n && state != STATE_DEAD; i++) {
		if (matcher_row(m, state))
			return STATE_NONE;
		state = m->rows.at[m->state[state].row - 1 + m->g->class_of[(unsigned char)s[i]]];
	}
	return state;
}

uint32_t matcher_token(struct matcher *m, uint32_t state, uint32_t number)
{
	if (matcher_row(m, state))
		return STATE_NONE;
	return m->rows.at[m->state[state].row - 1 + m->g->token_class + number];
}

int matcher_ends(const struct matcher *m, uint32_t state)
{
	const struct state *s = &m->state[state];

	/* END has the lowest number of all that may be members, so it comes first. */
	return state == STATE_END
		|| (state != STATE_DEAD && s->node == STATE_UNION && m->members.at[s->low] == STATE_END);
}

/* ---- the whole ---- */

int matcher_open(struct matcher *m, const struct grammar *g, const uint32_t reach[MATCHER_NEAR], struct why *w)
{
	*m = (struct matcher){ .g = g, .steps_max = STEPS_MAX };
	memcpy(m->reach, reach, sizeof m->reach);
	m->called = calloc((size_t)g->n_rules + 1, sizeof *m->called);
	m->waiting = calloc((size_t)g->n_rules / 64 + 1, sizeof *m->waiting);
	if (m->called && m->waiting && matcher_list(m, &m->gather, 64) && !matcher_make_first(m)) {
		m->gather.n = 0;
		return 0;
	}
	matcher_close(m);
	return why(w, "out of memory for the grammar's states");
}

void matcher_close(struct matcher *m)
{
	free(m->state);
	free(m->slots.slot);
	free(m->members.at);
	free(m->rows.at);
	free(m->transition);
	free(m->gather.at);
	free(m->calls.at);
	free(m->called);
	free(m->waiting);
	*m = (struct matcher){ .g = NULL };
}

uint32_t matcher_start(struct matcher *m)
{
	uint32_t root = m->g->rule[m->g->root].node, start = ahead(m, root, STATE_END);

	return m->g->node[root].nullable ? matcher_either(m, start, STATE_END) : start;
}

void matcher_hold(struct matcher *m, struct held_state *h, uint32_t state)
{
	*h = (struct held_state){ .older = m->held, .state = state };
	if (h->older)
		h->older->newer = h;
	m->held = h;
}

void matcher_release(struct matcher *m, struct held_state *h)
{
	if (h->newer)
		h->newer->older = h->older;
	else
		m->held = h->older;
	if (h->older)
		h->older->newer = h->newer;
}

/* ---- flushing ---- */

/* A state is made after those it refers to: one pass from the end marks what is needed, one from the start copies
 * it. */
static int copy_marked(struct matcher *to, const struct matcher *from, uint32_t *number)
{
	number[STATE_DEAD] = STATE_DEAD;
	number[STATE_END] = STATE_END;
	for (uint32_t i = STATE_END + 1; i < from->n; i++) {
		const struct state *s = &from->state[i];

		if (!number[i])
			continue;
		if (s->node == STATE_UNION) {
			for (uint32_t k = 0; k < s->high; k++)
				if (matcher_gather(to, number[from->members.at[s->low + k]]))
					return -1;
			number[i] = matcher_unite(to, 0);
		} else {
			number[i] = matcher_frame(to, s->node, s->low, s->high, number[s->next]);
		}
		if (number[i] == STATE_NONE)
			return -1;
	}
	return 0;
}

static void mark(const struct matcher *m, uint32_t *number)
{
	for (const struct held_state *h = m->held; h; h = h->older)
		number[h->state] = 1;
	for (uint32_t i = m->n; --i > STATE_END; ) {
		const struct state *s = &m->state[i];

		if (!number[i])
			continue;
		if (s->node == STATE_UNION)
			for (uint32_t k = 0; k < s->high; k++)
				number[m->members.at[s->low + k]] = 1;
		else
			number[s->next] = 1;
	}
}

int matcher_flush(struct matcher *m)
{
	uint32_t *number = calloc(m->n, sizeof *number);
	struct matcher fresh;
	struct why w;

	if (!number || matcher_open(&fresh, m->g, m->reach, &w)) {
		free(number);
		return (int)matcher_fail(m, MATCHER_MEMORY);
	}
	fresh.steps = m->steps;
	mark(m, number);
	if (copy_marked(&fresh, m, number) || matcher_half_full(&fresh)) {
		matcher_close(&fresh);
		free(number);
		return (int)matcher_fail(m, MATCHER_LIMIT);
	}
	for (struct held_state *h = m->held; h; h = h->older)
		h->state = number[h->state];
	fresh.held = m->held;
	matcher_close(m);
	free(number);
	*m = fresh;
	return 0;
}

int matcher_why(const struct matcher *m, struct why *w)
{
	return why(w, m->fault == MATCHER_MEMORY ? "out of memory for the grammar's states"
		: "the grammar is too ambiguous, or nested too deeply, to go on within bounded work and memory");
}
