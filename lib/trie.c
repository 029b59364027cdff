/* Sorting pieces and laying them out as a tree. */
#include "trie.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *x, const void *y)
{
	const struct trie_piece *a = x, *b = y;
	int c = memcmp(a->s, b->s, a->n < b->n ? a->n : b->n);

	if (c)
		return c;
	return a->n != b->n ? (a->n > b->n) - (a->n < b->n) : (a->id > b->id) - (a->id < b->id);
}

/* By key, one byte of it a pass, the lowest first. The order before is kept where keys are equal. */
static struct trie_piece *radix(struct trie_piece *from, struct trie_piece *to, size_t n)
{
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[257] = { 0 };
		struct trie_piece *swap = from;

		for (size_t i = 0; i < n; i++)
			at[(from[i].key >> shift & 0xff) + 1]++;
		for (unsigned b = 0; b < 256; b++)
			at[b + 1] += at[b];
		for (size_t i = 0; i < n; i++)
			to[at[from[i].key >> shift & 0xff]++] = from[i];
		from = to;
		to = swap;
	}
	return from;
}

int trie_sort(struct trie_piece *piece, size_t n)
{
	struct trie_piece *other = calloc(n ? n : 1, sizeof *other);

	if (!other)
		return -1;
	for (size_t i = 0; i < n; i++) {
		piece[i].key = 0;
		for (unsigned k = 0; k < 8; k++)
			piece[i].key = piece[i].key << 8 | (k < piece[i].n ? (unsigned char)piece[i].s[k] : 0);
	}
	radix(piece, other, n);         /* an even number of passes: the result is in piece */
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && piece[end].key == piece[i].key; end++)
			;
		if (end - i > 1)
			qsort(piece + i, end - i, sizeof *piece, by_bytes);
	}
	free(other);
	return 0;
}

static uint32_t common(const struct trie_piece *a, const struct trie_piece *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n, i = 0;

	while (i < n && a->s[i] == b->s[i])
		i++;
	return i;
}

/* Closes the open path down to `depth`: what comes next is below none of it. */
static void close_path(struct trie *t, const uint32_t *path, uint32_t from, uint32_t depth)
{
	for (uint32_t d = depth; d < from; d++)
		t->node[path[d]].skip = t->n;
}

static void lay_out(struct trie *t, const struct trie_piece *piece, size_t n, uint32_t shortest, uint32_t longest, uint32_t *path)
{
	const struct trie_piece *last = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct trie_piece *p = &piece[i];
		uint32_t shared;

		if (p->n < shortest || p->n > longest)
			continue;
		shared = last ? common(last, p) : 0;
		if (shared == p->n)
			shared--;       /* the same bytes again: a node of its own */
		close_path(t, path, last ? last->n : 0, shared);
		for (uint32_t d = shared; d < p->n; d++) {
			path[d] = t->n;
			t->node[t->n++] = (struct trie_node){ .id = -1, .depth = (uint16_t)d, .byte = (uint8_t)p->s[d] };
		}
		t->node[path[p->n - 1]].id = p->id;
		last = p;
	}
	close_path(t, path, last ? last->n : 0, 0);
}

int trie_build(struct trie *t, const struct trie_piece *piece, size_t n, uint32_t shortest, uint32_t longest)
{
	const struct trie_piece *last = NULL;
	struct trie_node *shrunk;
	size_t nodes = 0;
	uint32_t *path;

	*t = (struct trie){ 0 };
	for (size_t i = 0; i < n; i++) {
		if (piece[i].n < shortest || piece[i].n > longest)
			continue;
		nodes += piece[i].n - (last ? common(last, &piece[i]) : 0) + 1;
		last = &piece[i];
		if (t->longest < piece[i].n)
			t->longest = piece[i].n;
	}
	if (nodes >= UINT32_MAX)
		return -1;
	t->node = calloc(nodes ? nodes : 1, sizeof *t->node);
	path = calloc((size_t)t->longest + 1, sizeof *path);
	if (t->node && path)
		lay_out(t, piece, n, shortest, longest, path);
	free(path);
	if (!t->node || !path) {
		trie_free(t);
		return -1;
	}
	shrunk = realloc(t->node, (t->n ? t->n : 1) * sizeof *t->node);
	if (shrunk)
		t->node = shrunk;
	return 0;
}

void trie_free(struct trie *t)
{
	free(t->node);
	*t = (struct trie){ 0 };
}
