/* Unions of states, in one form. Of the frames of one node, those with the same state after them become one range of
 * counts, and where ranges overlap, the states after them are united. So the many ways to count a text of
 * ((a{0,30}){0,30}){0,30} are a few frames, and equal unions are one state. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

enum {
	MEMBERS_MAX = 1 << 20,          /* of one union */
	MERGE_DEPTH = 200               /* most unions nested in the frames of others; deeper members are not merged */
};

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

/* Removes what was gathered since `mark` and makes it a state as it is. */
static uint32_t collect(struct matcher *m, uint32_t mark)
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
	at = matcher_intern(m, &s, &fresh);
	if (!fresh)
		m->members.n -= n;
	return at;
}

/* ---- merging ---- */

struct range {                  /* a frame */
	uint32_t node, low, high, next;
};

static int by_count(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	if (a->node != b->node)
		return a->node > b->node ? 1 : -1;
	return (a->low > b->low) - (a->low < b->low);
}

static int gather_range(struct matcher *m, const struct range *r)
{
	return matcher_gather(m, matcher_frame(m, r->node, r->low, r->high, r->next));
}

/* Gathers the frames r[n] of one node, which are in order of their counts. Between two counts at which a range begins
 * or ends, the states after all ranges there are united. The ranges that cover the current counts are kept in front. */
static int merge_node(struct matcher *m, struct range *r, uint32_t n)
{
	struct range whole = *r;
	uint32_t kept = 0, at = 0, last = 0;

	whole.next = STATE_NONE;
	while (kept || at < n) {
		uint32_t first = kept ? last + 1 : r[at].low, mark = m->gather.n, covering, next;

		for (; at < n && r[at].low == first; at++)
			r[kept++] = r[at];
		last = at < n ? r[at].low - 1 : GRAMMAR_FOREVER;
		covering = kept;
		for (uint32_t i = 0; i < covering; i++) {
			last = r[i].high < last ? r[i].high : last;
			if (matcher_gather(m, r[i].next))
				return -1;
		}
		kept = 0;
		for (uint32_t i = 0; i < covering; i++)
			if (r[i].high > last)
				r[kept++] = r[i];
		m->steps += covering;
		next = matcher_unite(m, mark);
		if (next == STATE_NONE)
			return -1;
		if (next != whole.next || first != whole.high + 1) {
			if (whole.next != STATE_NONE && gather_range(m, &whole))
				return -1;
			whole = (struct range){ whole.node, first, last, next };
		}
		whole.high = last;
	}
	return gather_range(m, &whole);
}

/* The state equal to a union in which each node's frames are merged. */
static uint32_t merge(struct matcher *m, uint32_t at)
{
	uint32_t n = 0, mark = m->gather.n, same = 0, members = m->state[at].high;
	struct range *r = calloc(members, sizeof *r);
	int bad = 0;

	if (!r)
		return matcher_fail(m, MATCHER_MEMORY);
	for (uint32_t i = 0; i < members && !bad; i++) {
		uint32_t member = m->members.at[m->state[at].low + i];
		const struct state *s = &m->state[member];

		if (member == STATE_END)
			bad = matcher_push(m, &m->gather, member);
		else
			r[n++] = (struct range){ s->node, s->low, s->high, s->next };
	}
	qsort(r, n, sizeof *r, by_count);
	for (uint32_t i = 0, end; i < n && !bad; i = end) {
		for (end = i + 1; end < n && r[end].node == r[i].node; end++)
			;
		same |= end - i > 1;
		bad = end - i > 1 ? merge_node(m, r + i, end - i) : gather_range(m, &r[i]);
	}
	free(r);
	if (same && !bad)
		return collect(m, mark);
	m->gather.n = mark;
	return bad ? STATE_NONE : at;
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
	uint32_t raw = collect(m, mark), at;

	if (raw == STATE_NONE || m->state[raw].node != STATE_UNION || raw <= STATE_END)
		return raw;
	if (m->state[raw].merged)
		return m->state[raw].merged;
	m->merging++;
	at = m->merging <= MERGE_DEPTH ? merge(m, raw) : raw;
	m->merging--;
	if (at == STATE_NONE)
		return at;
	if (m->state[at].node == STATE_UNION && !m->state[at].merged) {
		if (unite_near(m, at))
			return STATE_NONE;
		m->state[at].merged = at;
	}
	return m->state[raw].merged = at;
}
