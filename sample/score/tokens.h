/* tokens: a row for each token: its score, its piece, and what was more likely. */
#ifndef TOKENS_H
#define TOKENS_H

#include "figures.h"
#include "lib/sampler/positions.h"
#include "sample/pieces.h"

/* pieces: NULL: only ids are known. */
void tokens_heading(const struct figures *f, const struct token_pieces *pieces);
void tokens_row(struct figures *f, const struct position *at, const struct token_pieces *pieces);

/* The `most` tokens with the lowest log-probabilities, from the lowest up; of equal ones the earlier. */
struct worst {
	struct position *at;            /* [most] */
	size_t n, most;
};

/* -1: out of memory; the caller frees l->at. Their pointers to rows are not valid any more. */
int worst_open(struct worst *l, size_t most, struct why *w);
void worst_add(struct worst *l, const struct position *at);

#endif
