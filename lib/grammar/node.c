/* Nodes of a grammar, interned: text that occurs twice costs once, and so does all later work on it. */
#include "node.h"

#include "lib/base/grow.h"
#include "lib/base/hash.h"
#include "lib/base/utf8.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const struct grammar_node *v)
{
	uint64_t h = hash_add(v->kind, (uint64_t)v->a << 32 | v->b);

	return (uint32_t)hash_add(h, (uint64_t)v->low << 32 | v->high);
}

static int same(const struct grammar_node *x, const struct grammar_node *y)
{
	return x->kind == y->kind && x->a == y->a && x->b == y->b && x->low == y->low && x->high == y->high;
}

static uint32_t intern(struct node_table *t, const struct grammar_node *v)
{
	uint32_t h = hash(v);
	struct slot *s;

	if (slots_reserve(&t->slots))
		return GRAMMAR_NONE;
	for (s = slots_first(&t->slots, h); s->index; s = slots_next(&t->slots, s))
		if (s->hash == h && same(&t->node[s->index - 1], v))
			return s->index - 1;
	if (t->n == t->room && (t->room >= GRAMMAR_NODES || grow(&t->node, &t->room, sizeof *t->node, 512)))
		return GRAMMAR_NONE;
	t->node[t->n] = *v;
	slots_put(&t->slots, s, h, t->n);
	return t->n++;
}

uint32_t node_empty(struct node_table *t)
{
	return intern(t, &(struct grammar_node){ .kind = NODE_EMPTY });
}

uint32_t node_symbols(struct node_table *t, uint32_t first, uint32_t last)
{
	return intern(t, &(struct grammar_node){ .kind = NODE_SYMBOLS, .a = first, .b = last });
}

uint32_t node_rule(struct node_table *t, uint32_t rule)
{
	return intern(t, &(struct grammar_node){ .kind = NODE_RULE, .a = rule });
}

uint32_t node_seq(struct node_table *t, uint32_t a, uint32_t b)
{
	if (a == GRAMMAR_NONE || b == GRAMMAR_NONE)
		return GRAMMAR_NONE;
	if (t->node[a].kind == NODE_EMPTY)
		return b;
	if (t->node[b].kind == NODE_EMPTY)
		return a;
	return intern(t, &(struct grammar_node){ .kind = NODE_SEQ, .a = a, .b = b });
}

uint32_t node_alt(struct node_table *t, uint32_t a, uint32_t b)
{
	if (a == GRAMMAR_NONE || b == GRAMMAR_NONE)
		return GRAMMAR_NONE;
	return a == b ? a : intern(t, &(struct grammar_node){ .kind = NODE_ALT, .a = a, .b = b });
}

/* ---- alternatives ----
 * Common beginnings are factored out, so that among 100,000 words few remain after the first bytes. */

enum { FACTOR_DEPTH = 250 };            /* bytes of a common beginning */

struct alternative {
	uint32_t node, head;            /* head: the first element of its sequence */
};

static uint32_t head(const struct node_table *t, uint32_t v)
{
	while (t->node[v].kind == NODE_SEQ)
		v = t->node[v].a;
	return v;
}

/* What comes after the head. */
static uint32_t behind_head(struct node_table *t, uint32_t v)
{
	uint32_t a = t->node[v].a, b = t->node[v].b;

	if (t->node[v].kind != NODE_SEQ)
		return node_empty(t);
	return t->node[a].kind == NODE_SEQ ? node_seq(t, behind_head(t, a), b) : b;
}

static int by_head(const void *x, const void *y)
{
	const struct alternative *a = x, *b = y;

	if (a->head != b->head)
		return a->head > b->head ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

static uint32_t factor(struct node_table *t, struct alternative *list, size_t n, int depth);

/* Joins sorted alternatives that begin with the same element. If that is a byte, it is factored out. */
static uint32_t join_like(struct node_table *t, struct alternative *list, size_t n, int depth)
{
	uint32_t first = list->head, v = list[n - 1].node;

	if (list->node == v)
		return v;
	if (depth && t->node[first].kind == NODE_SYMBOLS) {
		for (size_t i = 0; i < n; i++)
			if ((list[i].node = behind_head(t, list[i].node)) == GRAMMAR_NONE)
				return GRAMMAR_NONE;
		return node_seq(t, first, factor(t, list, n, depth - 1));
	}
	for (size_t i = n - 1; i-- > 0; )
		if (list[i].node != list[i + 1].node)
			v = node_alt(t, list[i].node, v);
	return v;
}

static uint32_t factor(struct node_table *t, struct alternative *list, size_t n, int depth)
{
	uint32_t v = GRAMMAR_NONE;

	for (size_t i = 0; i < n; i++)
		list[i].head = head(t, list[i].node);
	qsort(list, n, sizeof *list, by_head);
	for (size_t end = n, from; end; end = from) {
		uint32_t one;

		for (from = end - 1; from && list[from - 1].head == list[end - 1].head; from--)
			;
		one = join_like(t, list + from, end - from, depth);
		v = end == n ? one : node_alt(t, one, v);
		if (v == GRAMMAR_NONE)
			break;
	}
	return v;
}

uint32_t node_alternatives(struct node_table *t, const uint32_t *node, size_t n)
{
	struct alternative *list;
	uint32_t v;

	if (n == 1)
		return *node;
	list = calloc(n, sizeof *list);
	if (!list)
		return GRAMMAR_NONE;
	for (size_t i = 0; i < n; i++)
		list[i].node = node[i];
	v = factor(t, list, n, FACTOR_DEPTH);
	free(list);
	return v;
}

/* ---- repetitions and code points ---- */

/* A repetition of a repetition is a single one where its possible counts are a range: (x?){l,h}, (x*){l,h} and
 * (x+){l,h}. */
uint32_t node_repeat(struct node_table *t, uint32_t a, uint32_t low, uint32_t high)
{
	const struct grammar_node *v;

	if (a == GRAMMAR_NONE || (low == 1 && high == 1))
		return a;
	v = &t->node[a];
	if (high == 0 || v->kind == NODE_EMPTY)
		return node_empty(t);
	if (v->kind == NODE_REPEAT && v->low == 0 && v->high == 1)
		return node_repeat(t, v->a, 0, high);
	if (v->kind == NODE_REPEAT && v->low <= 1 && v->high == GRAMMAR_FOREVER)
		return node_repeat(t, v->a, v->low * low, GRAMMAR_FOREVER);
	return intern(t, &(struct grammar_node){ .kind = NODE_REPEAT, .a = a, .low = low, .high = high });
}

/* The code points from first to last, which have one length in UTF-8 and are a sequence of byte ranges. */
static uint32_t byte_ranges(struct node_table *t, uint32_t first, uint32_t last)
{
	char low[4], high[4];
	unsigned n = utf8_put(low, (int32_t)first);
	uint32_t v;

	utf8_put(high, (int32_t)last);
	v = node_symbols(t, (unsigned char)low[n - 1], (unsigned char)high[n - 1]);
	while (--n && v != GRAMMAR_NONE)
		v = node_seq(t, node_symbols(t, (unsigned char)low[n - 1], (unsigned char)high[n - 1]), v);
	return v;
}

/* Splits the range until each part is a sequence of byte ranges: where the length in UTF-8 changes, and where a
 * byte before a continuation byte changes but that byte does not run through all its values. */
uint32_t node_points(struct node_table *t, uint32_t first, uint32_t last)
{
	static const uint32_t ends[] = { 0x7f, 0x7ff, 0xffff };
	uint32_t end = last;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (first <= ends[i] && ends[i] < end)
			end = ends[i];
	for (unsigned bits = 18; bits && end == last && last > 0x7f; bits -= 6) {
		uint32_t rest = (1u << bits) - 1;

		if ((first & ~rest) == (last & ~rest))
			continue;
		if (first & rest)
			end = first | rest;
		else if ((last & rest) != rest)
			end = (last & ~rest) - 1;
	}
	if (end == last)
		return byte_ranges(t, first, last);
	return node_alt(t, node_points(t, first, end), node_points(t, end + 1, last));
}

void node_free(struct node_table *t)
{
	free(t->node);
	free(t->slots.slot);
	*t = (struct node_table){ 0 };
}
