/* scores: scores of tokens from rows of logits, computed by the pool's threads. */
#ifndef SCORES_H
#define SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/kernels/kernels.h"
#include "fwd/run/pool.h"
#include "lib/sampler/score.h"

struct scores {
	struct pool *pool;              /* borrowed */
	const struct kernels *kernels;
	size_t n_vocab;
	struct score_part *part;        /* [rows][score_parts(n_vocab)] */
	float (*score)[SCORE_COLS];     /* [rows], results of the last scores_rows() */

	/* private */
	const float *logits;
	const int32_t *ids;
};

/* For up to `rows` rows at a time. Returns 0, or -1 if memory is short. */
int scores_open(struct scores *s, struct pool *pool, const struct kernels *k, size_t rows, size_t n_vocab,
	struct why *w);
void scores_close(struct scores *s);

/* Computes s->score[i], the score of ids[i] in row i of logits[n][n_vocab], for each i < n. */
void scores_rows(struct scores *s, const float *logits, const int32_t *ids, size_t n);

#endif
