/* The states of a grammar, interned; frames, and their variants without large counts. Unions are made in union.c. */
#include "match.h"

#include "lib/base/grow.h"
#include "lib/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
	STATES_MAX = 1 << 20,
	LIST_MAX = 1 << 24              /* elements of rows[] and of members[] */
};

uint32_t matcher_fail(struct matcher *m, enum matcher_fault fault)
{
	m->fault = fault;
	return STATE_NONE;
}

uint32_t *matcher_list(struct matcher *m, struct uint_list *l, uint32_t n)
{
	if (n > LIST_MAX - l->n) {
		matcher_fail(m, l == &m->rows || l == &m->members ? MATCHER_FULL : MATCHER_LIMIT);
		return NULL;
	}
	while (l->n + n > l->room)
		if (grow(&l->at, &l->room, sizeof *l->at, 1024)) {
			matcher_fail(m, MATCHER_MEMORY);
			return NULL;
		}
	l->n += n;
	return l->at + l->n - n;
}

int matcher_push(struct matcher *m, struct uint_list *l, uint32_t x)
{
	uint32_t *at = matcher_list(m, l, 1);

	if (!at)
		return -1;
	*at = x;
	return 0;
}

/* ---- interning ---- */

static uint32_t hash(const struct matcher *m, const struct state *s)
{
	uint64_t h = s->node;

	if (s->node != STATE_UNION)
		return (uint32_t)hash_add(hash_add(h, (uint64_t)s->low << 32 | s->high), s->next);
	for (uint32_t i = 0; i < s->high; i++)
		h = hash_add(h, m->members.at[s->low + i]);
	return (uint32_t)h;
}

static int same(const struct matcher *m, const struct state *x, const struct state *y)
{
	if (x->node != y->node || x->high != y->high)
		return 0;
	if (x->node != STATE_UNION)
		return x->low == y->low && x->next == y->next;
	return !memcmp(m->members.at + x->low, m->members.at + y->low, x->high * sizeof *m->members.at);
}

static int make_room(struct matcher *m)
{
	if (slots_reserve(&m->slots))
		return (int)matcher_fail(m, MATCHER_MEMORY);
	if (m->n == m->room && m->room >= STATES_MAX)
		return (int)matcher_fail(m, MATCHER_FULL);
	if (m->n == m->room && grow(&m->state, &m->room, sizeof *m->state, 512))
		return (int)matcher_fail(m, MATCHER_MEMORY);
	return 0;
}

uint32_t matcher_intern(struct matcher *m, const struct state *s, int *fresh)
{
	uint32_t h = hash(m, s);
	struct slot *at;

	*fresh = 0;
	if (make_room(m))
		return STATE_NONE;
	for (at = slots_first(&m->slots, h); at->index; at = slots_next(&m->slots, at))
		if (at->hash == h && same(m, &m->state[at->index - 1], s))
			return at->index - 1;
	*fresh = 1;
	m->state[m->n] = *s;
	for (unsigned k = 0; k < MATCHER_NEAR; k++)
		m->state[m->n].near[k] = m->n;
	slots_put(&m->slots, at, h, m->n);
	return m->n++;
}

static uint32_t clamped(uint32_t count, uint32_t reach)
{
	return reach && count > reach ? GRAMMAR_FOREVER : count;
}

uint32_t matcher_frame(struct matcher *m, uint32_t node, uint32_t low, uint32_t high, uint32_t next)
{
	struct state s = { .node = node, .low = low, .high = high, .next = next };
	int fresh;
	uint32_t at;

	if (next == STATE_NONE)
		return next;
	if (low == GRAMMAR_FOREVER)
		s.next = STATE_DEAD;    /* never reached */
	at = matcher_intern(m, &s, &fresh);
	for (unsigned k = 0; at != STATE_NONE && fresh && k < MATCHER_NEAR; k++) {
		uint32_t near_low = clamped(low, m->reach[k]), near_high = clamped(high, m->reach[k]);
		uint32_t near_next = m->state[s.next].near[k];

		if (near_low != low || near_high != high || near_next != s.next) {
			uint32_t near = matcher_frame(m, node, near_low, near_high, near_next);

			if (near == STATE_NONE)
				return near;
			m->state[at].near[k] = near;
		}
	}
	return at;
}

/* ---- the tables ---- */

/* DEAD and END are states 0 and 1; they are not in the hash table. */
int matcher_make_first(struct matcher *m)
{
	m->n = 0;
	if (make_room(m))
		return -1;
	m->state[STATE_DEAD] = (struct state){ .node = STATE_UNION };
	m->state[STATE_END] = (struct state){ .node = STATE_UNION, .near = { STATE_END, STATE_END } };
	m->n = STATE_END + 1;
	return 0;
}

int matcher_half_full(const struct matcher *m)
{
	return m->n > STATES_MAX / 2 || m->members.n > LIST_MAX / 2;
}
