/* regex_reading: the text of a pattern while it is read. Private to regex.c and regex_set.c. */
#ifndef SCHEMA_REGEX_READING_H
#define SCHEMA_REGEX_READING_H

#include <string.h>

#include "converter.h"
#include "regex.h"

struct regex_reading {
	struct converter *c;
	const char *at, *end;
	int depth;
};

static inline int regex_refuse(struct regex_reading *x, const char *what)
{
	return schema_fail(x->c, "pattern: %s", what);
}

static inline int regex_peek(const struct regex_reading *x)
{
	return x->at < x->end ? (unsigned char)*x->at : -1;
}

static inline int regex_begins(const struct regex_reading *x, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(x->end - x->at) >= n && !memcmp(x->at, s, n);
}

/* Reads a character, or a set of them, into *set, which is empty before and settled then. */
void regex_read_set(struct regex_reading *x, struct points *set);

#endif
