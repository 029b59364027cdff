/* queries: the vectors that others are near to: lines of JSON, as embed writes them. */
#ifndef QUERIES_H
#define QUERIES_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/lines.h"
#include "lib/base/why.h"
#include "search.h"

struct query {
	float *vector;          /* [cols]; NULL: */
	char *error;            /* why it has none, as embed says */
	char *text;             /* text[n], or NULL if it has none */
	size_t n;
};

struct queries {                /* those of one search */
	size_t cols;            /* set by the caller; 0: there are no vectors, so queries may have any length */
	struct query query[SEARCH_QUERIES];
	size_t n;
	int failed;             /* the line after these is wrong, or cannot be read: */
	struct why cause;
};

/* Replaces the queries by the next ones: it waits for one, and takes more that have come. Returns how many, 0 at the
 * end of the input; -1 with a reason that names the line, after all queries before that line. */
int queries_next(struct queries *q, struct lines *from, struct why *w);

/* Adds a query, of which everything is copied; text NULL: none. */
int queries_add(struct queries *q, const struct json *vector, const char *text, size_t n, struct why *w);
void queries_clear(struct queries *q);

#endif
