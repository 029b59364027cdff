/* rerank: hits in the order of a model's scores for their texts. */
#ifndef RERANK_H
#define RERANK_H

#include "lib/base/why.h"
#include "embedder.h"
#include "labels.h"
#include "nearest.h"
#include "queries.h"

/* Replaces found[n], what was found for query[n], by the best of it according to the scores of the embedder, at most
 * `most` hits each. Every query has a text, and so has every label; -1 with a reason if not, or if a pair has no
 * score. */
int rerank(struct embedder *e, const struct query *query, struct nearest *found, size_t n, size_t most,
	const struct labels *labels, struct why *w);

#endif
