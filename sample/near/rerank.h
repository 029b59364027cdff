/* rerank: hits in the order of a model's scores for their texts. */
#ifndef RERANK_H
#define RERANK_H

#include "lib/base/why.h"
#include "child.h"
#include "labels.h"
#include "nearest.h"
#include "queries.h"

/* Replaces found[n], the hits for query[n], with the best of them by the scores of embed, at most `most` each.
 * -1 with a reason, also if a query or a label has no text, or a pair no score. */
int rerank(struct child *c, const struct query *const query[], struct nearest *found, size_t n, size_t most,
	const struct labels *labels, struct why *w);

#endif
