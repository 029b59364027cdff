/* top: the candidates for a position: the ids with the largest logits, from the largest down. */
#ifndef TOP_H
#define TOP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

enum { TOP_MAX = 1000 };

struct candidate {
	int32_t id;
	float score;                    /* its logit, or the logarithm of its probability */
	double p;
};

struct top {
	struct candidate best[TOP_MAX]; /* [n] */
	size_t n;
	int32_t order[TOP_MAX];         /* private */
	float *scratch;                 /* [n_vocab] after top_select(), for the caller */
	size_t room;                    /* bytes */
};

/* Finds the `most` best of row[n_vocab], which has no NaN, and sets their ids and logits; those of −infinity are left
 * out. most: at most TOP_MAX. t starts as zeros; its owner frees t->scratch. -1: out of memory. */
int top_select(struct top *t, const float *row, size_t n_vocab, size_t most, struct why *w);

#endif
