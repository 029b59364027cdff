/* score_listing: a line for each token: its score, its piece, and what was more likely. */
#ifndef SCORE_LISTING_H
#define SCORE_LISTING_H

#include "lib/base/json.h"
#include "lib/sampler/positions.h"
#include "sample/pieces.h"

/* pieces: NULL: only ids are known. */
void listing_heading(const struct token_pieces *pieces);
void listing_line(const struct position *at, const struct token_pieces *pieces);

/* The same as an object. */
void listing_json(struct json_writer *to, const struct position *at, const struct token_pieces *pieces);

/* The `most` tokens with the lowest log-probabilities, from the lowest up; of equal ones the earlier. */
struct worst {
	struct position *at;            /* [most] */
	size_t n, most;
};

/* -1: out of memory; the caller frees l->at. Their pointers to rows are not valid any more. */
int worst_open(struct worst *l, size_t most, struct why *w);
void worst_add(struct worst *l, const struct position *at);

#endif
