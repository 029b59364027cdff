/* merge: symbols form a linked list in an array indexed by byte offset. A tree of keys, each the lower of the two below
 * it, has the best pair at its root. Its leaves are the symbols, each with the cost of joining it and the next. A join
 * changes three leaves and the nodes above them, so time is O(n log n). */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "unicode.h"

enum {
	MEMOS = 1 << 15,
	WINDOW = 1 << 13,               /* bytes of text that are merged at a time */
	MARGIN = 1 << 8,                /* the last bytes of a window are left to the next window */
	NOT_JOINED = -2
};

#define APART UINT64_MAX                /* the key of a symbol that cannot be joined with the next */

struct symbol {
	uint32_t end;                   /* where the next symbol starts */
	uint32_t before;                /* where the symbol before starts */
	int32_t id;                     /* its token, or -1 */
	int32_t joined;                 /* token of this symbol joined with the next, or -1 */
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
	struct symbol *symbol;          /* [length]: the one that starts at a byte */
	size_t symbol_room;
	uint64_t *tree;                 /* [2 * leaves]: tree[1] is the root, tree[leaves + i] the key of symbol i */
	size_t leaves, tree_room;
	struct memo *memo;              /* [MEMOS]: pairs that were looked up recently */
	struct merge *border;           /* for the two symbols at the border of two parts; or NULL */
};

/* ---- pairs ---- */

/* Pairs with the same left id and adjacent right ids are adjacent, too, because the right ids of bytes mostly are. */
static struct memo *memo_of(struct merge *m, int32_t left, int32_t right)
{
	return &m->memo[(((uint32_t)left * 0x9e3779b1 >> 16) + (uint32_t)right) & (MEMOS - 1)];
}

/* Whether the symbols s[0..left) and s[left..n) of these ids can be joined; *pair is the pair. */
static int find_pair(struct merge *m, const char *s, int32_t left_id, int32_t right_id, size_t left, size_t n,
	struct merge_pair *pair)
{
	struct memo *memo;

	if (left_id < 0 || right_id < 0)
		return !m->rules.join(m->rules.context, s, left, n, pair);
	memo = memo_of(m, left_id, right_id);
	if (memo->left != (uint32_t)left_id + 1 || memo->right != (uint32_t)right_id + 1) {
		if (m->rules.join(m->rules.context, s, left, n, pair))
			*pair = (struct merge_pair){ 0, NOT_JOINED };
		*memo = (struct memo){ (uint32_t)left_id + 1, (uint32_t)right_id + 1, pair->cost, pair->id };
	}
	*pair = (struct merge_pair){ memo->cost, memo->id };
	return memo->id != NOT_JOINED;
}

/* The key of the symbol that starts at left, which is not the last: its cost, then its place. */
static uint64_t key_of(struct merge *m, uint32_t left)
{
	struct symbol *s = &m->symbol[left], *right = &m->symbol[s->end];
	struct merge_pair pair;

	if (!find_pair(m, m->text + left, s->id, right->id, s->end - left, right->end - left, &pair))
		return APART;
	s->joined = pair.id;
	return (uint64_t)pair.cost << 32 | left;
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

/* ---- the tree ---- */

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void set_key(struct merge *m, uint32_t at, uint64_t key)
{
	size_t i = m->leaves + at;

	for (m->tree[i] = key; i > 1; m->tree[i] = key) {
		key = lower(key, m->tree[i ^ 1]);
		i /= 2;
	}
}

/* Divides the text into bytes, or into characters, judged by their first bytes, and looks up all pairs. */
static void start(struct merge *m)
{
	uint32_t n = (uint32_t)m->length, length, last = 0;
	const int32_t *byte_id = m->rules.byte_id;
	uint64_t *leaf = m->tree + m->leaves;

	memset(leaf, 0xff, m->leaves * sizeof *leaf);
	for (uint32_t i = 0; i < n; i += length) {
		unsigned char first = (unsigned char)m->text[i];

		length = byte_id ? 1 : (uint32_t)size_min(unicode_length(first), n - i);
		m->symbol[i] = (struct symbol){ .end = i + length, .before = last,
			.id = byte_id ? byte_id[first] : character(m, m->text + i, length) };
		if (i)
			leaf[last] = key_of(m, last);
		last = i;
	}
	for (size_t i = m->leaves; --i > 0;)
		m->tree[i] = lower(m->tree[2 * i], m->tree[2 * i + 1]);
}

/* Joins the symbol that starts at left and the next. */
static void join(struct merge *m, uint32_t left)
{
	struct symbol *s = &m->symbol[left];

	set_key(m, s->end, APART);
	s->id = s->joined;
	s->end = m->symbol[s->end].end;
	if (s->end < m->length)
		m->symbol[s->end].before = left;
	set_key(m, left, s->end < m->length ? key_of(m, left) : APART);
	if (left)
		set_key(m, s->before, key_of(m, s->before));
}

/* Joins what can be joined in s[n], n > 0. Afterwards the symbols are those that start at 0 and at the end of another
 * symbol. */
static int join_all(struct merge *m, const char *s, size_t n, struct why *w)
{
	if (n > UINT32_MAX / 2)
		return why(w, "%zu bytes of text that cannot be merged in parts", n);
	m->text = s;
	m->length = n;
	for (m->leaves = 1; m->leaves < n;)
		m->leaves *= 2;
	if (grow_scratch(&m->symbol, &m->symbol_room, n * sizeof *m->symbol)
	    || grow_scratch(&m->tree, &m->tree_room, 2 * m->leaves * sizeof *m->tree))
		return why(w, "out of memory");
	start(m);
	while (m->tree[1] != APART)
		join(m, (uint32_t)m->tree[1]);
	return 0;
}

/* ---- long texts ----
 * A text can be merged in parts if no join crosses the border between them. Until one does, the two sides evolve
 * independently, so only the pairs of symbols that meet at the border matter; and these also meet when the text of the
 * two final symbols at the border is merged by itself. */

/* Appends the ids of the symbols before `end`; *last is where the last of them starts. */
static int add_symbols(struct merge *m, size_t end, size_t *last, struct ids *out, struct why *w)
{
	for (uint32_t i = 0; i < end; i = m->symbol[i].end) {
		if (m->rules.add(m->rules.context, m->symbol[i].id, m->text + i, m->symbol[i].end - i, out, w))
			return -1;
		*last = i;
	}
	return 0;
}

/* The last border between symbols that is at least MARGIN before the end; 0 if there is none. */
static size_t find_border(const struct merge *m)
{
	size_t border = 0;

	while (m->symbol[border].end + (size_t)MARGIN < m->length)
		border = m->symbol[border].end;
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
	if (join_all(b, s, n, w))
		return -1;
	for (at = 0; at < left; at = b->symbol[at].end)
		;
	return at == left;
}

int merge_text(struct merge *m, const char *s, size_t n, struct ids *out, struct why *w)
{
	size_t window = WINDOW, size = size_min(n, window), at = 0, border, last = 0, next, mark;
	int apart;

	if (join_all(m, s, size, w))
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
			if (join_all(m, s + next, size, w))
				return -1;
			apart = separate(m, s + at + last, border - last, border - last + m->symbol[0].end, w);
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
		if (join_all(m, s + at, size, w))
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
	return m;
}

void merge_close(struct merge *m)
{
	if (!m)
		return;
	merge_close(m->border);
	free(m->symbol);
	free(m->tree);
	free(m->memo);
	free(m);
}
