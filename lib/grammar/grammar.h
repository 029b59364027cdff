/* grammar: a context-free grammar in GBNF, the notation of llama.cpp, and the texts it allows.
 *
 *	root   ::= "[" ws (number ("," ws number)*)? "]"   # ends with its line, except in parentheses or after `|`
 *	number ::= "-"? [0-9]{1,16}
 *	ws     ::= | " " | "\n" [ \t]{0,20}
 *
 * Literals and classes consist of code points, in UTF-8 or as \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH;
 * `.` is any code point, [^...] any but those named; * + ? {n} {n,} {n,m} and {,m} repeat what stands before them,
 * a literal as a whole. <[7]> is the token 7, as a whole and whatever it prints; <think> is the token of this text;
 * !<[7]> and !<think> are any other token except those that end a generation. !"..." is any text, also an empty one,
 * in which this literal does not occur. The text starts at the rule `root`.
 * Errors, with line and column: a text that does not parse, and a rule that is missing, defined twice, has no
 * finite text, or begins with itself (left recursion; write it from the right instead).
 * A parsed grammar does not change. mask.h applies it to tokens. */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

struct grammar;

struct grammar_tokens {         /* the vocabulary whose tokens a grammar names */
	int32_t n;
	int32_t (*find)(const void *context, const char *text, size_t n);       /* the id of this text, or -1 */
	const void *context;
};

enum {
	GRAMMAR_TEXT = 1 << 24,         /* bytes of a grammar's text */
	GRAMMAR_DEPTH = 100,            /* nested parentheses */
	GRAMMAR_TOKENS = 1024,          /* different tokens that it names */
	GRAMMAR_REPEAT = 1000000000     /* the largest n or m of {n,m}; a large one costs no more than a small one */
};

/* Parses text[n]; only the second allows tokens. NULL: "line L, column C: reason"; errno is ENOMEM if it is memory that
 * is short, otherwise 0. Time and memory are about linear in n. */
struct grammar *grammar_parse(const char *text, size_t n, struct why *w);
struct grammar *grammar_parse_tokens(const char *text, size_t n, const struct grammar_tokens *tokens, struct why *w);
void grammar_free(struct grammar *g);

/* Whether the grammar allows the whole of text[n], which may be any bytes: 1 or 0; -1: it is too ambiguous to tell
 * within bounded work and memory. */
int grammar_matches(const struct grammar *g, const char *text, size_t n, struct why *w);

#endif
