/* node: what a parsed grammar consists of: nodes over symbols. Private to lib/grammar.
 * A symbol is a byte or a token: those that the grammar names are numbered from SYMBOL_TOKEN in the order in which they
 * are named, and SYMBOL_OTHER is any other. A class of code points has become alternatives of sequences of byte ranges,
 * so the matcher knows nothing of UTF-8. Equal nodes are one node. */
#ifndef GRAMMAR_NODE_H
#define GRAMMAR_NODE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/slots.h"
#include "grammar.h"

#define GRAMMAR_NONE UINT32_MAX         /* no node, no rule: a failure */
#define GRAMMAR_FOREVER UINT32_MAX      /* a repetition without an upper bound */

enum {
	GRAMMAR_NODES = 1 << 22,
	GRAMMAR_RULES = 1 << 19
};

enum { SYMBOL_TOKEN = 256, SYMBOL_OTHER = SYMBOL_TOKEN + GRAMMAR_TOKENS };

enum node_kind {
	NODE_EMPTY,
	NODE_SYMBOLS,           /* one symbol from a to b; after grammar_check(), one of the classes a to b */
	NODE_SEQ,               /* a, then b */
	NODE_ALT,               /* a or b */
	NODE_REPEAT,            /* a, low to high times; low is 0 if a may be empty */
	NODE_RULE               /* rule a */
};

struct grammar_node {
	uint8_t kind, nullable; /* nullable: it may be empty */
	uint32_t a, b, low, high;
};

struct grammar_rule {
	const char *name;       /* in the arena, terminated */
	uint32_t body;          /* a node; GRAMMAR_NONE until it is defined */
	uint32_t node;          /* the NODE_RULE that names it */
	uint32_t rank;          /* if a rule can begin with another one, its rank is lower */
	const char *where;      /* in the text: its definition, or its first mention before that */
};

struct grammar {
	struct arena arena;     /* names */
	struct grammar_node *node;
	struct grammar_rule *rule;
	uint32_t *by_rank;      /* [n_rules] */
	uint32_t n_nodes, n_rules, root;        /* root: a rule */
	int32_t *token;         /* [n_tokens]: the ids of those that are named */
	uint32_t n_tokens;
	/* Bytes that no node tells apart are a class; a range of bytes is a range of classes. Tokens that are named
	 * have one each, from token_class on, and all others the last one; without names there is none. */
	uint32_t n_classes, token_class;
	uint8_t class_of[256];
};

/* Computes what follows from the nodes and the rules' bodies: nullable, ranks, byte classes. Fails if a rule never
 * ends or begins with itself; *bad is that rule. GRAMMAR_NONE in *bad: no memory. */
int grammar_check(struct grammar *g, uint32_t *bad, struct why *w);

/* ---- making nodes: node.c ---- */

struct node_table {
	struct grammar_node *node;
	uint32_t n;
	size_t room;
	struct slots slots;     /* of the nodes */
};

/* Each returns the index of a new node or an equal one, or GRAMMAR_NONE if there is no room or an argument is
 * GRAMMAR_NONE. */
uint32_t node_empty(struct node_table *t);
uint32_t node_symbols(struct node_table *t, uint32_t first, uint32_t last);
uint32_t node_seq(struct node_table *t, uint32_t a, uint32_t b);
uint32_t node_alt(struct node_table *t, uint32_t a, uint32_t b);
uint32_t node_repeat(struct node_table *t, uint32_t a, uint32_t low, uint32_t high);
uint32_t node_rule(struct node_table *t, uint32_t rule);

/* One of node[n], with common beginnings factored out; n is at least 1 and no element is GRAMMAR_NONE. */
uint32_t node_alternatives(struct node_table *t, const uint32_t *node, size_t n);

/* The code points first to last, at most U+10FFFF and no surrogates, spelt in UTF-8. */
uint32_t node_points(struct node_table *t, uint32_t first, uint32_t last);

void node_free(struct node_table *t);

#endif
