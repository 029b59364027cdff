/* prefixes: the tokens that a text begins with, for kinds of vocabulary that look for tokens of any length at a
 * position. The tokens are a tree of bytes. The state of a walk down the tree is a node, whose edges are in a hash
 * table, or a place in a tail, the rest of a token where no other token branches off; most bytes are in tails. Tokens
 * have at most PREFIXES_LONGEST bytes, so that the time spent at a position is bounded. */
#ifndef PREFIXES_H
#define PREFIXES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

enum {
	PREFIXES_LONGEST = 1024,
	PREFIXES_RUN = 4096,            /* edges with neighbouring slots; chance does not make more */
	PREFIXES_STATE_BITS = 28,
	PREFIXES_ROOT = 0,              /* the node where a walk begins */
	PREFIXES_TAIL = 1 << 26,        /* a state: a place in tails; the byte there comes next */
	PREFIXES_END = 1 << 27,         /* a state: a place in tails; the token there ends */
	PREFIXES_LAST = 256             /* the last byte of a tail */
};

struct prefixes {                       /* starts as zeroes */
	/* [mask + 1]: the parent node, 8 bits of the byte, PREFIXES_STATE_BITS of the state below; 0: free */
	uint64_t *edges;
	uint32_t mask, n_edges, shift;
	uint32_t first[256];            /* the states below the root, or 0 */
	int32_t *token;                 /* [n]: the token that ends at a node, or -1 */
	size_t n, room;
	uint16_t *tails;                /* [n_tails]: bytes up to PREFIXES_LAST, then both halves of the token's id */
	size_t n_tails, tails_room;
	const unsigned char *only;
};

/* Removes all tokens; about n are to be added. only[256]: tokens with bytes that are not marked are ignored; NULL: none
 * are. Borrowed until all tokens are added. */
int prefixes_start(struct prefixes *p, size_t n, const unsigned char *only, struct why *w);

/* Of tokens with the same text the last is kept; an empty one is ignored. */
int prefixes_add(struct prefixes *p, const char *s, size_t n, int32_t id, struct why *w);

void prefixes_free(struct prefixes *p);

/* Where this edge is, or the free slot that ends the search for it; NULL after a run that is too long. */
static inline uint64_t *prefixes_slot(const struct prefixes *p, uint32_t node, unsigned char byte)
{
	uint64_t key = (uint64_t)node << 8 | byte, *edge;
	uint32_t slot = (uint32_t)(key * 0x9e3779b97f4a7c15 >> p->shift);

	for (uint32_t i = 0; i < PREFIXES_RUN; i++) {
		edge = &p->edges[(slot + i) & p->mask];
		if (!*edge || *edge >> PREFIXES_STATE_BITS == key)
			return edge;
	}
	return NULL;
}

/* The state after this byte of a tail. */
static inline uint32_t prefixes_in_tail(const struct prefixes *p, uint32_t place)
{
	return p->tails[place] & PREFIXES_LAST ? PREFIXES_END | (place + 1) : PREFIXES_TAIL | (place + 1);
}

/* The state after this byte, or 0 if no token goes on with it. */
static inline uint32_t prefixes_step(const struct prefixes *p, uint32_t state, unsigned char byte)
{
	const uint64_t *edge;

	if (state == PREFIXES_ROOT)
		return p->first[byte];
	if (state & PREFIXES_END)
		return 0;
	if (state & PREFIXES_TAIL)
		return (p->tails[state - PREFIXES_TAIL] & 255) == byte ? prefixes_in_tail(p, state - PREFIXES_TAIL) : 0;
	edge = prefixes_slot(p, state, byte);
	return edge ? (uint32_t)*edge & ((1u << PREFIXES_STATE_BITS) - 1) : 0;
}

/* The token that ends in this state, or -1. */
static inline int32_t prefixes_token(const struct prefixes *p, uint32_t state)
{
	uint32_t place = state - PREFIXES_END;

	if (state & PREFIXES_END)
		return (int32_t)(p->tails[place] | (uint32_t)p->tails[place + 1] << 16);
	return state & PREFIXES_TAIL ? -1 : p->token[state];
}

/* The longest token that text[n] begins with, or -1; its length is in *length. */
int32_t prefixes_longest(const struct prefixes *p, const char *text, size_t n, size_t *length);

#endif
