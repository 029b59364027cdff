/* grammar: a context-free grammar in GBNF, the notation of llama.cpp's users, and the texts it allows.
 *
 *	root   ::= "[" ws (number ("," ws number)*)? "]"      # a rule ends with its line, but for what stands in parentheses or after a `|`
 *	number ::= "-"? [0-9]{1,16}
 *	ws     ::= | " " | "\n" [ \t]{0,20}
 *
 * Literals and classes are made of code points, in UTF-8 or as \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH; `.` is any of them, [^...] any but
 * those named; * + ? {n} {n,} {n,m} and {,m} repeat what stands before them, a literal as a whole. The text starts at the rule `root`.
 * Refused, with line and column: what does not parse, a rule that is missing, defined twice, or has no finite text, and a rule that begins with
 * itself (left recursion, which may as well be written from the right).
 * A grammar is read only once it is parsed. How it is used on tokens is guide.h. */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include <stddef.h>

#include "lib/base/why.h"

struct grammar;

enum {
	GRAMMAR_TEXT = 1 << 24,         /* bytes of a grammar's text, at most */
	GRAMMAR_DEPTH = 100,            /* parentheses inside each other */
	GRAMMAR_REPEAT = 1000000000     /* the largest number in {n,m}; it costs no more than a small one */
};

/* The grammar that text[n] spells; NULL: "line L, column C: reason". Time and memory are linear in n. */
struct grammar *grammar_parse(const char *text, size_t n, struct why *w);
void grammar_free(struct grammar *g);

/* Whether the grammar allows the whole of text[n], any bytes: 1 or 0; -1 when it is too ambiguous to tell within bounded work and memory. */
int grammar_matches(const struct grammar *g, const char *text, size_t n, struct why *w);

#endif
