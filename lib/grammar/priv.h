/* priv: what a grammar is made of once it is parsed: nodes over bytes. Private to lib/grammar.
 * A class of code points has become alternatives of sequences of byte ranges, so whoever matches knows nothing of UTF-8. Equal nodes are one node. */
#ifndef GRAMMAR_PRIV_H
#define GRAMMAR_PRIV_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "grammar.h"

#define GRAMMAR_NONE UINT32_MAX         /* no node, no rule: a failure */
#define GRAMMAR_FOREVER UINT32_MAX      /* a repetition without an upper bound */

enum {
	GRAMMAR_NODES = 1 << 22,
	GRAMMAR_RULES = 1 << 19
};

enum node_kind {
	NODE_EMPTY,
	NODE_BYTES,             /* one byte from a to b; once grammar_check() is through, one byte of the classes a to b */
	NODE_SEQ,               /* a, then b */
	NODE_ALT,               /* a or b */
	NODE_REPEAT,            /* a, low to high times; low is 0 where a may be empty */
	NODE_RULE               /* rule a */
};

struct node {
	uint8_t kind, nullable; /* nullable: it may be empty */
	uint32_t a, b, low, high;
};

struct rule {
	const char *name;       /* in the arena, terminated */
	uint32_t body;          /* a node; GRAMMAR_NONE until it is defined */
	uint32_t node;          /* the one NODE_RULE that names it */
	uint32_t rank;          /* a rule that can begin with another one has the lower rank */
	const char *where;      /* in the text: its definition, or its first mention before that */
};

struct grammar {
	struct arena arena;     /* names */
	struct node *node;
	struct rule *rule;
	uint32_t *by_rank;      /* [n_rules] */
	uint32_t n_nodes, n_rules, root;        /* root: a rule */
	uint32_t n_classes;
	uint8_t class_of[256];  /* bytes that no node tells apart are one class; a range of bytes is a range of classes */
};

/* Fills in what follows from the nodes and the rules' bodies: nullable, ranks, byte classes. Refuses rules that never end or begin with themselves:
 * then *bad is that rule. GRAMMAR_NONE in *bad: no memory. */
int grammar_check(struct grammar *g, uint32_t *bad, struct why *w);

/* ---- making nodes: node.c ---- */

struct grammar_nodes {
	struct node *node;
	uint32_t n, room;
	uint32_t *slot;         /* open addressing: index of a node plus 1 */
	uint32_t slots;
};

/* Each returns the node's index, a new one or an equal one's, or GRAMMAR_NONE when there is no room for more or an argument is GRAMMAR_NONE. */
uint32_t node_empty(struct grammar_nodes *t);
uint32_t node_bytes(struct grammar_nodes *t, uint32_t first, uint32_t last);
uint32_t node_seq(struct grammar_nodes *t, uint32_t a, uint32_t b);
uint32_t node_alt(struct grammar_nodes *t, uint32_t a, uint32_t b);
uint32_t node_repeat(struct grammar_nodes *t, uint32_t a, uint32_t low, uint32_t high);
uint32_t node_rule(struct grammar_nodes *t, uint32_t rule);

/* Any of node[n], n at least 1, none of them GRAMMAR_NONE. */
uint32_t node_alternatives(struct grammar_nodes *t, const uint32_t *node, size_t n);

/* The code points first to last, at most U+10FFFF, spelt in UTF-8; no surrogates among them. */
uint32_t node_points(struct grammar_nodes *t, uint32_t first, uint32_t last);

void node_free(struct grammar_nodes *t);

#endif
