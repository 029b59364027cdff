/* search: the nearest vectors to each of some queries, exactly: all vectors are compared, by all threads. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stddef.h>

#include "lib/base/why.h"
#include "nearest.h"
#include "vectors.h"

enum { SEARCH_QUERIES = 16 };   /* in one pass over the vectors */

struct search {
	const struct vectors *vectors;
	int cosine;             /* the score is the cosine, otherwise the inner product */
	size_t n_threads;

	size_t not_finite;      /* after a search: vectors with an infinity or NaN, which are never found */
};

/* Finds the nearest to query[i][cols] for i < n, at most SEARCH_QUERIES; found[i] is open and empty, and is then
 * sorted. A vector of zeros has the cosine 0. The queries are finite. -1: out of memory. */
int search_run(struct search *s, const float *const query[], size_t n, struct nearest found[], struct why *w);

#endif
