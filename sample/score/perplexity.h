/* perplexity: how well a stream's tokens were predicted, all of them or the second half of each chunk: the figures of
 * the stream or of each text, or each token. */
#ifndef PERPLEXITY_H
#define PERPLEXITY_H

#include "figures.h"
#include "lib/sampler/positions.h"
#include "sample/pieces.h"
#include "tokens.h"

/* What was counted, of a stream or of one of its texts. */
struct tally {
	struct mean nll;                /* negative log-probability */
	size_t first_choice;            /* tokens of rank 1 */
	uint64_t bytes;
};

/* A text is a sequence, or a part of one that begins at position 0. */
struct text_score {
	uint32_t seq;
	size_t number;                  /* in the stream */
	struct tally tally;
};

struct perplexity {
	/* set by the caller */
	uint32_t chunk;                 /* see perplexity_counts() */
	const struct token_pieces *pieces;      /* or NULL */
	enum { WHOLE, TEXTS, TOKENS } of;       /* the figures of the stream, or a row for each */
	int as_json;
	size_t most;                    /* of the worst tokens that are shown; with WHOLE */

	/* private */
	struct figures out;
	struct tally tally;
	struct worst worst;
	struct sequences latest;        /* the latest text of each sequence */
	struct text_score *text;              /* [n_texts] */
	size_t n_texts, room;
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
