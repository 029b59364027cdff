/* The states of a grammar, interned: frames, unions, and their variants without large counts. */
#include "match.h"

#include "lib/base/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
	STATES_MAX = 1 << 20,
	LIST_MAX = 1 << 24,             /* elements of rows[] and of members[] */
	MEMBERS_MAX = 1 << 20           /* of one union */
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

static uint32_t mix(uint32_t h, uint32_t x)
{
	h = (h ^ x) * 0x9e3779b1u;
	return h ^ h >> 15;
}

static uint32_t hash(const struct matcher *m, const struct state *s)
{
	uint32_t h = mix(s->node, 7);

	if (s->node == STATE_UNION) {
		for (uint32_t i = 0; i < s->high; i++)
			h = mix(h, m->members.at[s->low + i]);
		return h;
	}
	return mix(mix(mix(h, s->low), s->high), s->next);
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

/* The number of the state equal to s; *fresh: it is new, and its near[] is not set yet. */
static uint32_t intern(struct matcher *m, const struct state *s, int *fresh)
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
	at = intern(m, &s, &fresh);
	for (unsigned k = 0; at != STATE_NONE && fresh && k < MATCHER_NEAR; k++) {
		uint32_t near_low = clamped(low, m->reach[k]), near_high = clamped(high, m->reach[k]);
		uint32_t near_next = m->state[next].near[k];

		if (near_low != low || near_high != high || near_next != next) {
			uint32_t near = matcher_frame(m, node, near_low, near_high, near_next);

			if (near == STATE_NONE)
				return near;
			m->state[at].near[k] = near;
		}
	}
	return at;
}

/* ---- unions ---- */

int matcher_gather(struct matcher *m, uint32_t state)
{
	uint32_t n;

	if (state == STATE_NONE)
		return -1;
	if (state == STATE_DEAD)
		return 0;
	if (m->state[state].node != STATE_UNION || state == STATE_END)
		return matcher_push(m, &m->gather, state);
	n = m->state[state].high;
	m->steps += n;
	if (!matcher_list(m, &m->gather, n))
		return -1;
	memcpy(m->gather.at + m->gather.n - n, m->members.at + m->state[state].low, n * sizeof *m->gather.at);
	return 0;
}

static int ascending(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* Sorts at[n] and removes duplicates; returns how many are left. */
static uint32_t settle(uint32_t *at, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 24) {
		qsort(at, n, sizeof *at, ascending);
	} else {
		for (uint32_t i = 1; i < n; i++) {
			uint32_t x = at[i], j = i;

			for (; j && at[j - 1] > x; j--)
				at[j] = at[j - 1];
			at[j] = x;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (!i || at[i] != at[kept - 1])
			at[kept++] = at[i];
	return kept;
}

static int unite_near(struct matcher *m, uint32_t at)
{
	for (unsigned k = 0; k < MATCHER_NEAR; k++) {
		uint32_t mark = m->gather.n, differ = 0, near;

		for (uint32_t i = 0; i < m->state[at].high; i++) {
			uint32_t member = m->members.at[m->state[at].low + i];

			near = m->state[member].near[k];
			differ |= near != member;
			if (matcher_gather(m, near))
				return -1;
		}
		if (!differ) {
			m->gather.n = mark;
			continue;
		}
		near = matcher_unite(m, mark);
		if (near == STATE_NONE)
			return -1;
		m->state[at].near[k] = near;
	}
	return 0;
}

uint32_t matcher_unite(struct matcher *m, uint32_t mark)
{
	uint32_t n = settle(m->gather.at + mark, m->gather.n - mark);
	struct state s = { .node = STATE_UNION, .low = m->members.n, .high = n };
	uint32_t at, *to;
	int fresh;

	m->gather.n = mark;
	m->steps += n;
	if (n > MEMBERS_MAX || m->steps > m->steps_max)
		return matcher_fail(m, MATCHER_LIMIT);
	if (n < 2)
		return n ? m->gather.at[mark] : STATE_DEAD;
	to = matcher_list(m, &m->members, n);
	if (!to)
		return STATE_NONE;
	memcpy(to, m->gather.at + mark, n * sizeof *to);
	at = intern(m, &s, &fresh);
	if (!fresh)
		m->members.n -= n;
	return at == STATE_NONE || !fresh || !unite_near(m, at) ? at : STATE_NONE;
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
