/* vocab: joining neighbouring symbols, cheapest pair first, as both SPM (by score) and BPE (by rank of the merge) do. Symbols are a list threaded
 * through arrays by byte offset; candidate pairs wait in a queue, and those that an earlier join made stale are dropped when they come up. The queue
 * is a heap of rows: a sweep over the text mostly offers the pairs of one cost from left to right, and these are put behind one another. That is n·log n
 * for n bytes at worst, and n where few pairs differ, as in a long run of one letter. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "unicode.h"

/* ---- the queue ---- */

static int before(const struct merge_row *a, const struct merge_row *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->left < b->left;
}

/* Makes room for one more pair, and a row of its own. */
static int queue_room(struct merge *m)
{
	return (m->used == m->waiting_room && grow(&m->waiting, &m->waiting_room, sizeof *m->waiting, 256)) ||
		(m->n_rows == m->rows_room && grow(&m->rows, &m->rows_room, sizeof *m->rows, 256)) ? -1 : 0;
}

static struct merge_end *end_of(struct merge *m, uint32_t cost)
{
	return &m->ends[cost * 0x9e3779b1 >> 16 & (MERGE_ENDS - 1)];
}

static void queue_empty(struct merge *m)
{
	m->free = MERGE_NONE;
	m->used = m->n_rows = 0;
	for (size_t i = 0; i < MERGE_ENDS; i++)
		m->ends[i].last = MERGE_NONE;
}

/* Behind the last pair of its cost, or as a row of its own. */
static int push(struct merge *m, struct merge_pair pair)
{
	struct merge_end *end = end_of(m, pair.cost);
	struct merge_row row = { pair.cost, pair.left, m->free };
	size_t i, up;

	if (queue_room(m))
		return -1;
	if (row.first == MERGE_NONE)
		row.first = (uint32_t)m->used++;
	else
		m->free = m->waiting[row.first].next;
	m->waiting[row.first] = (struct merge_waiting){ pair.left, pair.size, pair.id, MERGE_NONE };
	if (end->last != MERGE_NONE && end->cost == pair.cost && m->waiting[end->last].left < pair.left) {
		m->waiting[end->last].next = row.first;
		end->last = row.first;
		return 0;
	}
	*end = (struct merge_end){ pair.cost, row.first };
	for (i = m->n_rows++; i && before(&row, &m->rows[up = (i - 1) / 2]); i = up)
		m->rows[i] = m->rows[up];
	m->rows[i] = row;
	return 0;
}

static struct merge_pair pop(struct merge *m)
{
	struct merge_row row = m->rows[0];
	struct merge_waiting *first = &m->waiting[row.first];
	struct merge_pair pair = { row.cost, first->left, first->size, first->id };
	uint32_t next = first->next;
	size_t i = 0, down;

	first->next = m->free;
	m->free = row.first;
	if (next != MERGE_NONE) {
		row.first = next;
		row.left = m->waiting[next].left;
	} else {
		if (end_of(m, row.cost)->last == row.first)
			end_of(m, row.cost)->last = MERGE_NONE;
		row = m->rows[--m->n_rows];
	}
	while ((down = 2 * i + 1) < m->n_rows) {
		if (down + 1 < m->n_rows && before(&m->rows[down + 1], &m->rows[down]))
			down++;
		if (!before(&m->rows[down], &row))
			break;
		m->rows[i] = m->rows[down];
		i = down;
	}
	m->rows[i] = row;
	return pair;
}

/* ---- the list ---- */

static struct merge_memo *remember(struct merge *m, int32_t left, int32_t right)
{
	uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9e3779b97f4a7c15;

	return &m->memo[(h ^ h >> 29) >> 20 & (MERGE_MEMOS - 1)];
}

/* Puts the pair that starts at left into the heap if it can be joined. */
static int offer(struct merge *m, const struct vocab *v, merge_join *join, const unsigned char *s, uint32_t left)
{
	uint32_t right = m->end[left];
	struct merge_pair pair = { 0, left, m->end[right] - left, MERGE_NOT };
	struct merge_memo *memo;

	if (m->id[left] < 0 || m->id[right] < 0)
		return join(v, s + left, right - left, pair.size, &pair) ? 0 : push(m, pair);
	memo = remember(m, m->id[left], m->id[right]);
	if (memo->left != (uint32_t)m->id[left] + 1 || memo->right != (uint32_t)m->id[right] + 1) {
		if (join(v, s + left, right - left, pair.size, &pair))
			pair.id = MERGE_NOT;
		*memo = (struct merge_memo){ (uint32_t)m->id[left] + 1, (uint32_t)m->id[right] + 1, pair.cost, pair.id };
	}
	pair.cost = memo->cost;
	pair.id = memo->id;
	return pair.id == MERGE_NOT ? 0 : push(m, pair);
}

/* The token of one character. Those of few bytes are remembered in place of a pair, as the number that the bytes make and no right side. */
static int32_t character(struct merge *m, const struct vocab *v, const unsigned char *s, size_t n)
{
	uint32_t bytes = 0;
	struct merge_memo *memo;

	if (n > 3)
		return names_find(&v->tokens, s, n);
	for (size_t i = 0; i < n; i++)
		bytes = bytes << 8 | s[i];
	memo = remember(m, (int32_t)bytes, -1);
	if (memo->left != bytes + 1 || memo->right)
		*memo = (struct merge_memo){ bytes + 1, 0, 0, names_find(&v->tokens, s, n) };
	return memo->id;
}

static int make_room(struct merge *m, size_t n)
{
	free(m->end);
	free(m->before);
	free(m->id);
	m->room = 0;
	m->end = malloc((n + 1) * sizeof *m->end);
	m->before = malloc((n + 1) * sizeof *m->before);
	m->id = malloc((n + 1) * sizeof *m->id);
	if (!m->memo)
		m->memo = calloc(MERGE_MEMOS, sizeof *m->memo);
	if (!m->ends && (m->ends = malloc(MERGE_ENDS * sizeof *m->ends)))
		queue_empty(m);
	if (!m->end || !m->before || !m->id || !m->memo || !m->ends)
		return -1;
	m->room = n;
	return 0;
}

int merge_run(struct merge *m, const struct vocab *v, merge_join *join, const unsigned char *s, size_t n, struct why *w)
{
	uint32_t i, length, last = 0, right;
	struct merge_pair pair;

	if (n > UINT32_MAX / 2)
		return why(w, "a stretch of text of %zu bytes without a place to cut it", n);
	if (n > m->room && make_room(m, n < 1024 ? 1024 : n))
		return why(w, "out of memory");
	if (m->n_rows)                  /* of a run that failed */
		queue_empty(m);
	for (i = 0; i < n; i += length) {
		length = (uint32_t)unicode_length(s[i]);
		if (length > n - i)
			length = (uint32_t)n - i;
		m->end[i] = i + length;
		m->before[i] = last;
		m->id[i] = character(m, v, s + i, length);
		if (i && offer(m, v, join, s, last))
			return why(w, "out of memory");
		last = i;
	}
	while (m->n_rows) {
		pair = pop(m);
		right = m->end[pair.left];
		if (!right || right == n || m->end[right] - pair.left != pair.size)
			continue;
		m->end[pair.left] = m->end[right];
		m->id[pair.left] = pair.id;
		m->end[right] = 0;
		right = m->end[pair.left];
		if (pair.left && offer(m, v, join, s, m->before[pair.left]))
			return why(w, "out of memory");
		if (right < n) {
			m->before[right] = pair.left;
			if (offer(m, v, join, s, pair.left))
				return why(w, "out of memory");
		}
	}
	return 0;
}

void merge_free(struct merge *m)
{
	free(m->end);
	free(m->before);
	free(m->id);
	free(m->waiting);
	free(m->rows);
	free(m->ends);
	free(m->memo);
}
