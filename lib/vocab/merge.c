/* merge: symbols form a linked list in arrays indexed by byte offset. Candidate pairs wait in a priority queue; pairs
 * that an earlier join made stale are skipped when they come up. The queue is a heap of lists: pairs of equal cost are
 * mostly found from left to right, and each is appended to the list of its cost. Time is O(n log n), and O(n) if there
 * are few different pairs, as in a long run of one letter. */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "unicode.h"

#define NONE UINT32_MAX

enum {
	MEMOS = 1 << 16,
	ENDS = 1 << 10,
	WINDOW = 1 << 16,               /* bytes of text that are merged at a time */
	MARGIN = 1 << 8,                /* the last bytes of a window are left to the next one */
	FEW = 128,                      /* bytes of a short text */
	NOT_JOINED = -2
};

#define FEW_APART UINT64_MAX

struct waiting {                        /* a pair in a list of pairs of equal cost, ascending by left */
	uint32_t left, size;
	int32_t id;
	uint32_t next;                  /* in the list, or the free list; NONE: the last */
};

struct row {
	uint32_t cost, left, first;     /* left: of the first pair */
};

struct end {
	uint32_t cost, last;            /* the last pair of a list, or NONE */
};

struct memo {
	uint32_t left, right;           /* ids plus one; 0: free */
	uint32_t cost;
	int32_t id;                     /* or NOT_JOINED */
};

struct merge {
	struct merge_rules rules;
	const char *text;
	size_t length;
	/* all in one allocation, for the symbol that starts at a byte */
	uint32_t *end;                  /* its end; 0: none starts here */
	uint32_t *before;               /* start of the symbol before it */
	int32_t *id;                    /* its token, or -1 */
	size_t room;
	struct waiting *waiting;
	uint32_t free;                  /* the free list; NONE: entries from `used` on are free */
	size_t used, waiting_room;
	struct row *rows;               /* a heap */
	size_t n_rows, rows_room;
	struct end ends[ENDS];          /* by cost: the lists that a pair may be appended to */
	struct memo *memo;              /* [MEMOS]: pairs that were looked up recently */
	struct merge *border;           /* for the two symbols at the border of two parts; or NULL */
};

/* ---- the queue ---- */

static int before(const struct row *a, const struct row *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->left < b->left;
}

/* Makes room for one more pair and a list of its own. */
static int queue_room(struct merge *m)
{
	if (m->used == m->waiting_room && grow(&m->waiting, &m->waiting_room, sizeof *m->waiting, 256))
		return -1;
	return m->n_rows == m->rows_room ? grow(&m->rows, &m->rows_room, sizeof *m->rows, 256) : 0;
}

static struct end *end_of(struct merge *m, uint32_t cost)
{
	return &m->ends[cost * 0x9e3779b1 >> 16 & (ENDS - 1)];
}

static void queue_empty(struct merge *m)
{
	m->free = NONE;
	m->used = m->n_rows = 0;
	for (size_t i = 0; i < ENDS; i++)
		m->ends[i].last = NONE;
}

/* Appends the pair to the list of its cost, or starts a list with it. */
static int push(struct merge *m, struct merge_pair pair)
{
	struct end *end = end_of(m, pair.cost);
	struct row row = { pair.cost, pair.left, m->free };
	size_t i, up;

	if (queue_room(m))
		return -1;
	if (row.first == NONE)
		row.first = (uint32_t)m->used++;
	else
		m->free = m->waiting[row.first].next;
	m->waiting[row.first] = (struct waiting){ pair.left, pair.size, pair.id, NONE };
	if (end->last != NONE && end->cost == pair.cost && m->waiting[end->last].left < pair.left) {
		m->waiting[end->last].next = row.first;
		end->last = row.first;
		return 0;
	}
	*end = (struct end){ pair.cost, row.first };
	for (i = m->n_rows++; i && before(&row, &m->rows[up = (i - 1) / 2]); i = up)
		m->rows[i] = m->rows[up];
	m->rows[i] = row;
	return 0;
}

static struct merge_pair pop(struct merge *m)
{
	struct row row = m->rows[0];
	struct waiting *first = &m->waiting[row.first];
	struct merge_pair pair = { row.cost, first->left, first->size, first->id };
	uint32_t next = first->next;
	size_t i = 0, down;

	first->next = m->free;
	m->free = row.first;
	if (next != NONE) {
		row.first = next;
		row.left = m->waiting[next].left;
	} else {
		if (end_of(m, row.cost)->last == row.first)
			end_of(m, row.cost)->last = NONE;
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

/* ---- the list of symbols ---- */

static struct memo *memo_of(struct merge *m, int32_t left, int32_t right)
{
	uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9e3779b97f4a7c15;

	return &m->memo[(h ^ h >> 29) >> 20 & (MEMOS - 1)];
}

/* Whether the symbols s[0..left) and s[left..n) of these ids can be joined: the pair's cost and id. */
static int find_pair(struct merge *m, const char *s, int32_t left_id, int32_t right_id, size_t left, size_t n,
	struct merge_pair *pair)
{
	struct memo *memo;

	pair->cost = 0;
	if (left_id < 0 || right_id < 0)
		return !m->rules.join(m->rules.context, s, left, n, pair);
	memo = memo_of(m, left_id, right_id);
	if (memo->left != (uint32_t)left_id + 1 || memo->right != (uint32_t)right_id + 1) {
		if (m->rules.join(m->rules.context, s, left, n, pair))
			pair->id = NOT_JOINED;
		*memo = (struct memo){ (uint32_t)left_id + 1, (uint32_t)right_id + 1, pair->cost, pair->id };
	}
	pair->cost = memo->cost;
	pair->id = memo->id;
	return pair->id != NOT_JOINED;
}

/* Puts the pair that starts at left into the queue if it can be joined. */
static int offer(struct merge *m, uint32_t left)
{
	uint32_t right = m->end[left];
	struct merge_pair pair = { 0, left, m->end[right] - left, NOT_JOINED };

	if (!find_pair(m, m->text + left, m->id[left], m->id[right], right - left, pair.size, &pair))
		return 0;
	return push(m, pair);
}

/* The token of one character. Characters of up to 3 bytes are cached like pairs: their bytes as a number on the left,
 * nothing on the right. */
static int32_t character(struct merge *m, const char *s, size_t n)
{
	uint32_t bytes = 0;
	struct memo *memo;

	if (n > 3)
		return names_find(m->rules.tokens, s, n);
	for (size_t i = 0; i < n; i++)
		bytes = bytes << 8 | (unsigned char)s[i];
	memo = memo_of(m, (int32_t)bytes, -1);
	if (memo->left != bytes + 1 || memo->right)
		*memo = (struct memo){ bytes + 1, 0, 0, names_find(m->rules.tokens, s, n) };
	return memo->id;
}

/* Divides the text into characters, judged by their first bytes, and queues all pairs that can be joined. */
static int start(struct merge *m)
{
	uint32_t n = (uint32_t)m->length, length, last = 0, i;

	if (m->n_rows)                  /* after a failed run */
		queue_empty(m);
	for (i = 0; i < n; i += length) {
		length = (uint32_t)unicode_length((unsigned char)m->text[i]);
		if (length > n - i)
			length = n - i;
		m->end[i] = i + length;
		m->before[i] = last;
		m->id[i] = character(m, m->text + i, length);
		if (i && offer(m, last))
			return -1;
		last = i;
	}
	return 0;
}

/* Merges s[n]. The symbols are then m->text[i..m->end[i]) with the ids m->id[i], from i = 0 on. */
static int run(struct merge *m, const char *s, size_t n, struct why *w)
{
	struct merge_pair pair;
	uint32_t right;

	if (n > UINT32_MAX / 2)
		return why(w, "%zu bytes of text that cannot be merged in parts", n);
	m->text = s;
	m->length = n;
	if (grow_scratch(&m->end, &m->room, 3 * (size_max(n, 1024) + 1) * sizeof *m->end))
		return why(w, "out of memory");
	m->before = m->end + n + 1;
	m->id = (int32_t *)(m->before + n + 1);
	if (start(m))
		return why(w, "out of memory");
	while (m->n_rows) {
		pair = pop(m);
		right = m->end[pair.left];
		if (!right || right == m->length || m->end[right] - pair.left != pair.size)
			continue;
		m->end[pair.left] = m->end[right];
		m->id[pair.left] = pair.id;
		m->end[right] = 0;
		right = m->end[pair.left];
		if (pair.left && offer(m, m->before[pair.left]))
			return why(w, "out of memory");
		if (right < m->length) {
			m->before[right] = pair.left;
			if (offer(m, pair.left))
				return why(w, "out of memory");
		}
	}
	return 0;
}

/* ---- short texts: the best pair is found by looking at all of them ---- */

struct few {
	size_t n;                       /* symbols */
	unsigned char at[FEW + 1];      /* where each starts, and the end of the last */
	int32_t id[FEW];
	/* of each symbol and the next, if they can be joined: the cost, or FEW_APART; and the joined token */
	uint64_t cost[FEW];
	int32_t joined[FEW];
};

static void look_up(struct merge *m, struct few *f, const char *s, size_t i)
{
	struct merge_pair pair;
	size_t left = f->at[i];
	int found = i + 1 < f->n && find_pair(m, s + left, f->id[i], f->id[i + 1], f->at[i + 1] - left,
		f->at[i + 2] - left, &pair);

	f->cost[i] = found ? pair.cost : FEW_APART;
	f->joined[i] = found ? pair.id : -1;
}

/* Joins symbol i and the next. */
static void join_few(struct few *f, size_t i)
{
	f->id[i] = f->joined[i];
	f->n--;
	for (size_t k = i + 1; k < f->n; k++) {
		f->at[k] = f->at[k + 1];
		f->id[k] = f->id[k + 1];
		f->cost[k] = f->cost[k + 1];
		f->joined[k] = f->joined[k + 1];
	}
	f->at[f->n] = f->at[f->n + 1];
}

static int merge_few(struct merge *m, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct few f;
	size_t best;

	f.n = 0;
	for (size_t i = 0, length; i < n; i += length) {
		length = size_min(unicode_length((unsigned char)s[i]), n - i);
		f.at[f.n] = (unsigned char)i;
		f.id[f.n++] = character(m, s + i, length);
	}
	f.at[f.n] = (unsigned char)n;
	for (size_t i = 0; i < f.n; i++)
		look_up(m, &f, s, i);
	for (;;) {
		best = 0;
		for (size_t i = 1; i + 1 < f.n; i++)
			best = f.cost[i] < f.cost[best] ? i : best;
		if (f.cost[best] == FEW_APART)
			break;
		join_few(&f, best);
		look_up(m, &f, s, best);
		if (best)
			look_up(m, &f, s, best - 1);
	}
	for (size_t i = 0; i < f.n; i++)
		if (m->rules.add(m->rules.context, f.id[i], s + f.at[i], (size_t)(f.at[i + 1] - f.at[i]), out, w))
			return -1;
	return 0;
}

/* ---- long texts ----
 * A text can be merged in parts if no join crosses the border between them. Until one does, the two sides evolve
 * independently, so only the pairs of symbols that meet at the border matter; and these also meet when the text of the
 * two final symbols at the border is merged by itself. */

/* Appends the ids of the symbols before `end`; *last is where the last of them starts. */
static int add_symbols(struct merge *m, size_t end, size_t *last, struct ids *out, struct why *w)
{
	for (uint32_t i = 0; i < end; i = m->end[i]) {
		if (m->rules.add(m->rules.context, m->id[i], m->text + i, m->end[i] - i, out, w))
			return -1;
		*last = i;
	}
	return 0;
}

/* The last border between symbols that is at least MARGIN before the end; 0 if there is none. */
static size_t find_border(const struct merge *m)
{
	size_t border = 0;

	while (m->end[border] + (size_t)MARGIN < m->length)
		border = m->end[border];
	return border;
}

/* 1 if no join crosses the border of s[0..left) and s[left..n), each of which is one symbol of its part; -1 if memory
 * runs out. */
static int separate(struct merge *m, const char *s, size_t left, size_t n, struct why *w)
{
	struct merge *b = m->border;
	size_t at;

	if (!b && !(b = m->border = merge_open(m->rules)))
		return why(w, "out of memory");
	if (run(b, s, n, w))
		return -1;
	for (at = 0; at < left; at = b->end[at])
		;
	return at == left;
}

int merge_text(struct merge *m, const char *s, size_t n, struct ids *out, struct why *w)
{
	size_t window = WINDOW, size = size_min(n, window), at = 0, border, last = 0, next, mark;
	int apart;

	if (n <= FEW)
		return merge_few(m, s, n, out, w);
	if (run(m, s, size, w))
		return -1;
	while (at + size < n) {
		mark = out->n;
		border = find_border(m);
		apart = 0;
		if (border) {
			if (add_symbols(m, border, &last, out, w))
				return -1;
			next = at + border;
			size = size_min(n - next, window);
			if (run(m, s + next, size, w))
				return -1;
			apart = separate(m, s + at + last, border - last, border - last + m->end[0], w);
			if (apart < 0)
				return -1;
		}
		if (apart) {
			at = next;
			window = WINDOW;
			continue;
		}
		out->n = mark;
		window *= 2;
		size = size_min(n - at, window);
		if (run(m, s + at, size, w))
			return -1;
	}
	return add_symbols(m, m->length, &last, out, w);
}

struct merge *merge_open(struct merge_rules rules)
{
	struct merge *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->rules = rules;
	m->memo = calloc(MEMOS, sizeof *m->memo);
	if (!m->memo) {
		free(m);
		return NULL;
	}
	queue_empty(m);
	return m;
}

void merge_close(struct merge *m)
{
	if (!m)
		return;
	merge_close(m->border);
	free(m->end);
	free(m->waiting);
	free(m->rows);
	free(m->memo);
	free(m);
}
