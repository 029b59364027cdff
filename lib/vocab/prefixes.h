/* prefixes: the tokens that a text begins with, for kinds of vocabulary that look for tokens of any length at a
 * position. The tokens are a tree of bytes whose nodes are numbered level by level, so that the children of a node are
 * side by side and follow those of the node before it. A node below which there is only one token has no children: the
 * rest of the token is compared as a whole. Tokens have at most PREFIXES_LONGEST bytes, so that the time spent at a
 * position is bounded. */
#ifndef PREFIXES_H
#define PREFIXES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/base/why.h"

enum { PREFIXES_LONGEST = 1024 };

struct prefixes {                       /* starts as zeroes */
	struct sort_string *tokens;  /* [n_tokens], ascending by text once the tree is built */
	size_t n_tokens, n_nodes, room;
	const unsigned char *only;
	char *texts;                    /* of the tokens, in their order */
	uint32_t root[256];             /* the root's child for a byte, or 0 */
	uint32_t *first;                /* [n_nodes + 1]: the children of node i are nodes first[i]..first[i + 1] - 1 */
	uint32_t *token;                /* [n_nodes]: a token that ends at or below the node, plus one, or 0 */
	unsigned char *label;           /* [n_nodes]: the byte that leads to the node */
};

/* Removes all tokens; at most n are to be added. only[256]: tokens with bytes that are not marked are ignored; NULL:
 * none are. Borrowed until the tree is built. */
int prefixes_start(struct prefixes *p, size_t n, const unsigned char *only, struct why *w);

/* s is borrowed until the tree is built. Of tokens with the same text the last is kept; an empty one is ignored. */
int prefixes_add(struct prefixes *p, const char *s, size_t n, int32_t id, struct why *w);

/* Builds the tree; called once, after the last token was added. */
int prefixes_build(struct prefixes *p, struct why *w);

void prefixes_free(struct prefixes *p);

struct prefixes_walk {                  /* starts as { p, text, n } and zeroes */
	const struct prefixes *p;
	const char *text;               /* [n] */
	size_t n, depth;
	uint32_t node;
};

/* The child of a node for a byte, or 0, which is the root. */
static inline uint32_t prefixes_child(const struct prefixes *p, uint32_t node, unsigned char byte)
{
	const unsigned char *label = p->label + p->first[node], *end = p->label + p->first[node + 1], *found;

	if (node == 0)
		return p->root[byte];
	found = label < end ? memchr(label, byte, (size_t)(end - label)) : NULL;
	return found ? (uint32_t)(found - p->label) : 0;
}

/* The next longer token that the text begins with, or NULL. */
static inline const struct sort_string *prefixes_next(struct prefixes_walk *walk)
{
	const struct prefixes *p = walk->p;
	const struct sort_string *t;
	size_t depth;

	while (walk->depth < walk->n) {
		walk->node = prefixes_child(p, walk->node, (unsigned char)walk->text[walk->depth]);
		if (!walk->node)
			break;
		depth = ++walk->depth;
		if (!p->token[walk->node])
			continue;
		t = &p->tokens[p->token[walk->node] - 1];
		if (t->n == depth
		    || (t->n > depth && t->n <= walk->n && !memcmp(t->s + depth, walk->text + depth, t->n - depth)))
			return t;
	}
	walk->n = 0;
	return NULL;
}

/* The longest token that text[n] begins with, or -1; its length is in *length. */
int32_t prefixes_longest(const struct prefixes *p, const char *text, size_t n, size_t *length);

#endif
