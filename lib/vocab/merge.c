/* vocab: joining neighbouring symbols, cheapest pair first, as both SPM (by score) and BPE (by rank of the merge) do. Symbols are a list threaded
 * through arrays by byte offset; candidate pairs wait in a heap, and those that an earlier join made stale are dropped when they come up. That is
 * n·log n for a run of n bytes. And the words met before, so that common ones are joined once. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

#include "../unicode.h"

/* ---- the heap ---- */

static int before(const struct merge_pair *a, const struct merge_pair *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->left < b->left;
}

static int push(struct merge *m, struct merge_pair pair)
{
	size_t i = m->n_pairs, up;

	if (i == m->pairs_room) {
		size_t room = m->pairs_room ? 2 * m->pairs_room : 256;
		struct merge_pair *heap = realloc(m->heap, room * sizeof *heap);

		if (!heap)
			return -1;
		m->heap = heap;
		m->pairs_room = room;
	}
	for (m->n_pairs++; i && before(&pair, &m->heap[up = (i - 1) / 2]); i = up)
		m->heap[i] = m->heap[up];
	m->heap[i] = pair;
	return 0;
}

static struct merge_pair pop(struct merge *m)
{
	struct merge_pair top = m->heap[0], last = m->heap[--m->n_pairs];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < m->n_pairs) {
		if (down + 1 < m->n_pairs && before(&m->heap[down + 1], &m->heap[down]))
			down++;
		if (!before(&m->heap[down], &last))
			break;
		m->heap[i] = m->heap[down];
		i = down;
	}
	m->heap[i] = last;
	return top;
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
	if (!m->end || !m->before || !m->id || !m->memo)
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
	m->n_pairs = 0;
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
	while (m->n_pairs) {
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
	free(m->heap);
	free(m->memo);
}

/* ---- words ---- */

static struct word *place(const struct vocab *v, const char *s, size_t n)
{
	return &v->work->words[names_hash(s, n) % WORDS];
}

int words_recall(const struct vocab *v, const char *s, size_t n, struct ids *out)
{
	const struct word *word;

	if (n > WORD_BYTES)
		return 0;
	word = place(v, s, n);
	if (word->n != n || memcmp(word->s, s, n))
		return 0;
	for (unsigned i = 0; i < word->n_ids; i++)
		if (ids_add(out, word->id[i]))
			return -1;
	return 1;
}

void words_keep(const struct vocab *v, const char *s, size_t n, const struct ids *ids, size_t from)
{
	size_t n_ids = ids->n - from;
	struct word *word;

	if (n > WORD_BYTES || n_ids > WORD_IDS)
		return;
	word = place(v, s, n);
	word->n = (unsigned char)n;
	word->n_ids = (unsigned char)n_ids;
	memcpy(word->s, s, n);
	for (size_t i = 0; i < n_ids; i++)
		word->id[i] = ids->id[from + i];
}
