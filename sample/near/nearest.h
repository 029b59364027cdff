/* nearest: the best hits of a search so far, as a heap whose root is the worst of them. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

#include "lib/base/why.h"

struct hit {
	double score;
	size_t row;
};

struct nearest {
	size_t most;            /* hits that are kept, at least 1 */
	struct hit *hit;        /* [n] */
	size_t n;
};

/* -1: out of memory. */
int nearest_open(struct nearest *t, size_t most, struct why *w);
void nearest_close(struct nearest *t);

/* Whether a is the better hit: the higher score or, of equal ones, the lower row. */
static inline int hit_is_better(const struct hit *a, const struct hit *b)
{
	return a->score > b->score || (a->score == b->score && a->row < b->row);
}

/* Keeps the hit, if it is one of the best; its score is not NaN. */
void nearest_add(struct nearest *t, struct hit hit);

/* Sorts the hits, the best first; the heap is then complete. */
void nearest_sort(struct nearest *t);

#endif
