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
	size_t printed, failed;         /* queries so far, and those without a vector; start as 0 */
};

/* A line for each hit, with an empty line before those of the next query; or a line of JSON. Nothing was found for a
 * query without a vector; its line has the error. */
int results_print(struct results *r, const struct query *q, const struct nearest *found, struct why *w);

#endif
