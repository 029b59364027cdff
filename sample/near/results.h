/* results: prints what was found for a query. */
#ifndef RESULTS_H
#define RESULTS_H

#include "lib/base/why.h"
#include "labels.h"
#include "nearest.h"
#include "queries.h"

struct results {
	int as_json;
	const struct labels *labels;    /* without labels (n 0) there are only scores and indices */
	size_t printed;                 /* queries so far; starts as 0 */
};

/* A line for each hit, with an empty line before those of the next query; or a line of JSON. */
int results_print(struct results *r, const struct query *q, const struct nearest *found, struct why *w);

#endif
