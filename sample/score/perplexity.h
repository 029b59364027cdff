/* perplexity: how well a stream's tokens were predicted, all of them or the second half of each chunk. */
#ifndef PERPLEXITY_H
#define PERPLEXITY_H

#include "figures.h"
#include "score_listing.h"
#include "lib/sampler/positions.h"
#include "sample/pieces.h"

struct perplexity {
	/* set by the caller */
	uint32_t chunk;                 /* see perplexity_counts() */
	const struct token_pieces *pieces;      /* or NULL */
	int table, as_json;             /* table: a line for each token, instead of figures */
	size_t most;                    /* of the worst tokens that are shown */

	/* private */
	struct mean nll;                /* negative log-probability */
	size_t first_choice;            /* tokens of rank 1 */
	uint64_t bytes;
	struct worst worst;
};

/* Whether a prediction counts. With chunk 0 all do; otherwise those in the second half of a chunk, which have enough
 * context. llama-perplexity -c counts the same. */
static inline int perplexity_counts(uint32_t chunk, uint32_t pos)
{
	return !chunk || (pos > chunk / 2 && pos < chunk);
}

/* Reads the whole stream and prints what is asked for. */
int perplexity_run(struct perplexity *p, struct positions *in, struct why *w);

#endif
