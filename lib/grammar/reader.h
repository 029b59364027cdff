/* reader: the characters of a grammar's text, and errors with line and column. Private to lib/grammar. */
#ifndef GRAMMAR_READER_H
#define GRAMMAR_READER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "grammar.h"

struct grammar_reader {
	const char *start, *at, *end;   /* the text, borrowed, and the position in it */
	struct why *w;
};

/* Formats the reason with the line and column of `at`; returns GRAMMAR_NONE, which is -1 as an int. */
uint32_t reader_fail(struct grammar_reader *r, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The next byte, or -1 at the end. */
int reader_peek(const struct grammar_reader *r);

/* Skips blanks and comments; with `lines`, line ends too. */
void reader_skip(struct grammar_reader *r, int lines);

/* The length of the rule name at the position; 0: there is none. */
size_t reader_name(const struct grammar_reader *r);

/* Reads a code point of a literal or class, escaped or as it stands. -1: the reason is set. */
int32_t reader_point(struct grammar_reader *r);

/* Reads a token; returns its id. -1: the reason is set. token.c */
int32_t reader_token(struct grammar_reader *r, const struct grammar_tokens *tokens);

#endif
