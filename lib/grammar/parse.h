/* parse: what the readers of GBNF's expressions share. Functions that make a node return GRAMMAR_NONE after a failure,
 * whose reason is set. Private to parse.c and without.c. */
#ifndef GRAMMAR_PARSE_H
#define GRAMMAR_PARSE_H

#include "class.h"
#include "node.h"
#include "reader.h"

struct grammar_parser {
	struct grammar_reader text;
	struct grammar *g;
	struct node_table nodes;
	uint32_t *stack;        /* nodes of the sequences being read */
	size_t n, room;
	struct slots slots;     /* of the rules by name */
	size_t rule_room;
	const struct grammar_tokens *tokens;    /* or NULL */
	size_t token_room;
	int depth;
};

/* The node; or the reason why it could not be made. */
uint32_t parse_made(struct grammar_parser *p, uint32_t node);

/* A new rule, which the text at `where` begins or names first. */
uint32_t parse_rule(struct grammar_parser *p, const char *name, size_t n, const char *where);

/* Puts a node on the stack. -1: it is none, or there is no memory. */
int parse_push(struct grammar_parser *p, uint32_t node);

/* The next code point of the literal that began at `from`; -1: it ends; -2: an error. */
int32_t parse_literal_point(struct grammar_parser *p, const char *from);

/* Any one of these points. */
uint32_t parse_points(struct grammar_parser *p, const struct points *c);

/* Any text, also an empty one, in which the literal after the `!` does not occur. */
uint32_t parse_without(struct grammar_parser *p);

#endif
