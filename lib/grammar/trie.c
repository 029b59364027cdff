/* Pieces arrive in order, so each shares the path of the one before it up to where they differ, and nodes are appended
 * depth first. */
#include "trie.h"

#include "lib/base/utf8.h"

#include <stdlib.h>
#include <string.h>

static uint32_t common(const struct sort_string *a, const struct sort_string *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n, i = 0;

	while (i < n && a->s[i] == b->s[i])
		i++;
	return i;
}

uint64_t trie_kind(unsigned char c)
{
	static const char alone[] = "\t\n\r !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
	const char *hit = c ? strchr(alone, c) : NULL;
	unsigned at = (unsigned)sizeof alone;

	if (hit)
		return (uint64_t)1 << (hit - alone);
	at += c >= '0' && c <= '9' ? 1 : c >= 'a' && c <= 'f' ? 2 : c >= 'g' && c <= 'z' ? 3 : c >= 'A' && c <= 'F' ? 4
		: c >= 'G' && c <= 'Z' ? 5 : c == 0x7f ? 6 : 0;
	return (uint64_t)1 << at;
}

struct trie_builder {
	struct trie *t;
	uint64_t kind[128];
	uint32_t *path;         /* [longest]: the nodes of the last piece, one per byte */
	uint64_t *rest;         /* [longest + 1]: the kinds of characters from each of its bytes on */
};

/* The next node is not below those of the path from `depth` on. */
static void close_path(const struct trie_builder *b, uint32_t from, uint32_t depth)
{
	for (uint32_t d = depth; d < from; d++)
		b->t->node[b->path[d]].skip = b->t->n;
}

static void find_rests(const struct trie_builder *b, const struct sort_string *p)
{
	b->rest[p->n] = 0;
	for (uint32_t i = p->n; i-- > 0; ) {
		unsigned char c = (unsigned char)p->s[i];
		unsigned used;

		if (c < 0x80)
			b->rest[i] = b->rest[i + 1] | b->kind[c];
		else if (c < 0xc0 || utf8_next(p->s + i, p->n - i, &used) < 0)
			b->rest[i] = TRIE_BROKEN;
		else
			b->rest[i] = b->rest[i + used] | TRIE_BEYOND_ASCII;
	}
}

static void add_piece(const struct trie_builder *b, const struct sort_string *p, const struct sort_string *last)
{
	struct trie *t = b->t;
	uint32_t shared = last ? common(last, p) : 0;

	if (shared == p->n)
		shared--;       /* equal pieces have a node each */
	close_path(b, last ? last->n : 0, shared);
	for (uint32_t d = shared; d < p->n; d++) {
		b->path[d] = t->n;
		t->node[t->n++] = (struct trie_node){ .first = t->n_ids, .depth = (uint16_t)d,
			.byte = (uint8_t)p->s[d] };
	}
	find_rests(b, p);
	for (uint32_t d = 0; d + 1 < p->n; d++) {
		struct trie_node *v = &t->node[b->path[d]];
		uint32_t height = p->n - d - 1 < TRIE_HIGH ? p->n - d - 1 : TRIE_HIGH;

		t->below[b->path[d]] |= b->rest[d + 1];
		if (v->height < height)
			v->height = (uint8_t)height;
	}
	t->node[b->path[p->n - 1]].ends = 1;
	t->id[t->n_ids++] = p->id;
}

int trie_build(struct trie *t, const struct sort_string *piece, size_t n, uint32_t shortest, uint32_t longest)
{
	struct trie_builder b = { .t = t };
	const struct sort_string *last = NULL;
	size_t nodes = 1, ids = 1;
	int bad;

	*t = (struct trie){ 0 };
	for (size_t i = 0; i < n; i++) {
		if (piece[i].n < shortest || piece[i].n > longest)
			continue;
		nodes += piece[i].n - (last ? common(last, &piece[i]) : 0) + 1;
		ids++;
		last = &piece[i];
		if (t->longest < piece[i].n)
			t->longest = piece[i].n;
	}
	for (unsigned c = 0; c < 128; c++)
		b.kind[c] = trie_kind((unsigned char)c);
	t->node = nodes < UINT32_MAX ? calloc(nodes, sizeof *t->node) : NULL;
	t->below = calloc(nodes, sizeof *t->below);
	t->id = calloc(ids, sizeof *t->id);
	b.path = calloc((size_t)t->longest + 1, sizeof *b.path);
	b.rest = calloc((size_t)t->longest + 1, sizeof *b.rest);
	bad = !t->node || !t->below || !t->id || !b.path || !b.rest;
	last = NULL;
	for (size_t i = 0; i < n && !bad; i++) {
		if (piece[i].n < shortest || piece[i].n > longest)
			continue;
		add_piece(&b, &piece[i], last);
		last = &piece[i];
	}
	if (last && !bad)
		close_path(&b, last->n, 0);
	free(b.path);
	free(b.rest);
	if (bad)
		trie_free(t);
	return bad ? -1 : 0;
}

void trie_free(struct trie *t)
{
	free(t->node);
	free(t->below);
	free(t->id);
	*t = (struct trie){ 0 };
}
