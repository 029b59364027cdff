/* cursor: a place in a grammar's text: its characters, and complaints that name the line and column. Private to lib/grammar. */
#ifndef GRAMMAR_CURSOR_H
#define GRAMMAR_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

struct cursor {
	const char *start, *at, *end;   /* of the text, borrowed */
	struct why *w;
};

/* Puts the reason with the line and column of `at` into t->w; returns GRAMMAR_NONE, which is -1 as an int. */
uint32_t cursor_fail(struct cursor *t, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The byte at the cursor, or -1 at the end. */
int cursor_peek(const struct cursor *t);

/* Goes past spaces and comments; past ends of lines too where they mean nothing. */
void cursor_skip(struct cursor *t, int lines);

/* How many bytes of a rule's name stand here. */
size_t cursor_name(const struct cursor *t);

/* The next code point of a literal or class, escaped or as it stands; -1 with the reason. */
int32_t cursor_point(struct cursor *t);

#endif
