/* prefixes: filling the table of edges. */
#include "prefixes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

enum { FIRST_BITS = 10 };               /* of the number of slots */

void prefixes_free(struct prefixes *p)
{
	free(p->edges);
	free(p->token);
	memset(p, 0, sizeof *p);
}

static int add_node(struct prefixes *p, struct why *w)
{
	if (p->n == 1u << PREFIXES_NODE_BITS)
		return why(w, "tokenizer.ggml.tokens: too many bytes");
	if (p->n == p->room && grow(&p->token, &p->room, sizeof *p->token, 1024))
		return why(w, "out of memory");
	p->token[p->n++] = -1;
	return 0;
}

int prefixes_start(struct prefixes *p, const unsigned char *only, struct why *w)
{
	prefixes_free(p);
	p->only = only;
	p->mask = (1u << FIRST_BITS) - 1;
	p->shift = 64 - FIRST_BITS;
	p->edges = calloc(p->mask + (size_t)1, sizeof *p->edges);
	return p->edges ? add_node(p, w) : why(w, "out of memory");
}

/* Where this edge is missing; NULL after a run that is too long. */
static uint64_t *free_slot(const struct prefixes *p, uint64_t key)
{
	uint32_t slot = prefixes_slot(p, key);

	for (int i = 0; i < PREFIXES_RUN; i++)
		if (!p->edges[(slot + (uint32_t)i) & p->mask])
			return &p->edges[(slot + (uint32_t)i) & p->mask];
	return NULL;
}

static int put_edge(struct prefixes *p, uint64_t edge, struct why *w)
{
	uint64_t *slot = free_slot(p, edge >> PREFIXES_NODE_BITS);

	if (!slot)
		return why(w, "tokenizer.ggml.tokens: strings chosen to collide");
	*slot = edge;
	return 0;
}

static int double_edges(struct prefixes *p, struct why *w)
{
	uint64_t *old = p->edges;
	size_t n = p->mask + (size_t)1;
	int bad = 0;

	p->edges = calloc(2 * n, sizeof *p->edges);
	if (!p->edges) {
		p->edges = old;
		return why(w, "out of memory");
	}
	p->mask = (uint32_t)(2 * n - 1);
	p->shift--;
	for (size_t i = 0; i < n && !bad; i++)
		bad = old[i] && put_edge(p, old[i], w);
	free(old);
	return bad ? -1 : 0;
}

/* The child of the node, which is added if it is missing. -1: no memory. */
static int step(struct prefixes *p, uint32_t *node, unsigned char byte, struct why *w)
{
	uint32_t child = prefixes_step(p, *node, byte), parent = *node;

	*node = child ? child : p->n;
	if (child)
		return 0;
	if ((p->n > p->mask / 2 && double_edges(p, w)) || add_node(p, w))
		return -1;
	if (!parent)
		p->first[byte] = *node;
	return parent ? put_edge(p, ((uint64_t)parent << 8 | byte) << PREFIXES_NODE_BITS | *node, w) : 0;
}

int prefixes_add(struct prefixes *p, const char *s, size_t n, int32_t id, struct why *w)
{
	uint32_t node = 0;

	if (n > PREFIXES_LONGEST)
		return why(w, "tokenizer.ggml.tokens: number %d: %zu bytes (at most %d are supported)", (int)id, n,
			PREFIXES_LONGEST);
	for (size_t i = 0; p->only && i < n; i++)
		if (!p->only[(unsigned char)s[i]])
			return 0;
	for (size_t i = 0; i < n; i++)
		if (step(p, &node, (unsigned char)s[i], w))
			return -1;
	if (n)
		p->token[node] = id;
	return 0;
}

int32_t prefixes_longest(const struct prefixes *p, const char *text, size_t n, size_t *length)
{
	uint32_t node = 0;
	int32_t longest = -1;

	for (size_t i = 0; i < n && (node = prefixes_step(p, node, (unsigned char)text[i])); i++)
		if (p->token[node] >= 0) {
			longest = p->token[node];
			*length = i + 1;
		}
	return longest;
}
