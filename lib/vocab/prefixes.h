/* prefixes: the tokens that a text begins with, for kinds of vocabulary that look for tokens of any length at a
 * position. The tokens are a tree of bytes; node 0 is its root, and its edges are in a hash table. Tokens have at most
 * PREFIXES_LONGEST bytes, so that the time spent at a position is bounded. */
#ifndef PREFIXES_H
#define PREFIXES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

enum {
	PREFIXES_LONGEST = 1024,
	PREFIXES_RUN = 4096,            /* edges with neighbouring slots; chance does not make more */
	PREFIXES_NODE_BITS = 28
};

struct prefixes {                       /* starts as zeroes */
	/* [mask + 1]: the parent's number, 8 bits of the byte, PREFIXES_NODE_BITS of the child's number; 0: free */
	uint64_t *edges;
	uint32_t mask, n, shift;        /* n: nodes */
	int32_t *token;                 /* [n]: the token that ends at a node, or -1 */
	size_t room;
	uint32_t first[256];            /* the root's children, or 0 */
	const unsigned char *only;
};

/* Removes all tokens. only[256]: tokens with bytes that are not marked are ignored; NULL: none are. Borrowed until all
 * tokens are added. */
int prefixes_start(struct prefixes *p, const unsigned char *only, struct why *w);

/* Of tokens with the same text the last is kept; an empty one is ignored. */
int prefixes_add(struct prefixes *p, const char *s, size_t n, int32_t id, struct why *w);

void prefixes_free(struct prefixes *p);

static inline uint32_t prefixes_slot(const struct prefixes *p, uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15 >> p->shift);
}

/* The child of this node for this byte, or 0. */
static inline uint32_t prefixes_step(const struct prefixes *p, uint32_t node, unsigned char byte)
{
	uint64_t key = (uint64_t)node << 8 | byte, edge;
	uint32_t slot;

	if (!node)
		return p->first[byte];
	slot = prefixes_slot(p, key);
	for (int i = 0; i < PREFIXES_RUN; i++) {
		edge = p->edges[(slot + (uint32_t)i) & p->mask];
		if (!edge || edge >> PREFIXES_NODE_BITS == key)
			return (uint32_t)edge & ((1u << PREFIXES_NODE_BITS) - 1);
	}
	return 0;
}

/* The longest token that text[n] begins with, or -1; its length is in *length. */
int32_t prefixes_longest(const struct prefixes *p, const char *text, size_t n, size_t *length);

#endif
